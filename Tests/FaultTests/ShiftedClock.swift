import Fixtures
import Foundation

/// A wall clock that a test can set while a process runs. The process loads `clock.c` before the C library; it adds the
/// seconds in a file to the real time.
struct ShiftedClock: Sendable {
    private let library: String
    private let offset: URL

    init(in folder: TemporaryFolder) async throws {
        library = try await Preloaded.clock.library(in: folder)
        offset = folder.url.appendingPathComponent("clock.offset")
        try Data(count: MemoryLayout<Int64>.size).write(to: offset)
    }

    var environment: [String: String] { ["LD_PRELOAD": library, "FAULT_CLOCK": offset.path] }

    /// Shifts the process's clock by `seconds` from the real clock.
    func shift(by seconds: Int) throws {
        let handle = try FileHandle(forWritingTo: offset)
        defer { try? handle.close() }
        try handle.write(contentsOf: withUnsafeBytes(of: Int64(seconds)) { Data($0) })
    }
}
