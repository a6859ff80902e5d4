#if os(Linux)
import Fixtures
import Foundation
import Testing

@testable import Martlet

@Suite struct SegmentMemoryTests {
    @Test func writingToATouchedPageCausesNoPageFault() throws {
        let folder = try TemporaryFolder()
        let pages = 64
        let memory = try SegmentMemory(
            path: folder.url.appendingPathComponent("segment").path, count: pages * JournalFormat.headerBytes)
        memory.touch()
        let before = pageFaults()
        for page in 0..<pages { memory.bytes[page * JournalFormat.headerBytes + 8] = 1 }
        // The kernel may have written a page to the disk meanwhile, and the process may run code for the first time.
        #expect(pageFaults() - before < pages / 4)
    }

    /// Returns the page faults of the calling thread (`RUSAGE_THREAD`, a constant that Swift does not import).
    private func pageFaults() -> Int {
        var usage = rusage()
        getrusage(1, &usage)
        return usage.ru_minflt
    }
}
#endif
