import Fixtures
import Foundation

/// A wall clock that can be set under a running process: `clock.c`, which the process loads ahead of the C library, adds
/// what stands in a file.
struct ShiftedClock: Sendable {
    private let library: String
    private let offset: URL

    init(in folder: TemporaryFolder) async throws {
        library = try await Preloaded.clock.library(in: folder)
        offset = folder.url.appendingPathComponent("clock.offset")
        try Data(count: MemoryLayout<Int64>.size).write(to: offset)
    }

    var environment: [String: String] { ["LD_PRELOAD": library, "FAULT_CLOCK": offset.path] }

    /// From now on, by so many seconds against the real one.
    func shift(by seconds: Int) throws {
        let handle = try FileHandle(forWritingTo: offset)
        defer { try? handle.close() }
        try handle.write(contentsOf: withUnsafeBytes(of: Int64(seconds)) { Data($0) })
    }
}
