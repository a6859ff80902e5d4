import Fixtures
import Foundation

/// A file of points with which several tests begin. Filling it takes seconds, so each test process fills it once, and each test
/// works on a copy.
struct FilledStore: Sendable {
    private let contents: Task<Data, any Error>

    /// - Parameter fill: fills the file at a path and closes it.
    init(_ fill: @escaping @Sendable (String) async throws -> Void) {
        contents = Task {
            let folder = try TemporaryFolder()
            try await fill(folder.path("filled.sqlite"))
            return try Data(contentsOf: folder.url.appendingPathComponent("filled.sqlite"))
        }
    }

    func copy(to path: String) async throws {
        try await contents.value.write(to: URL(fileURLWithPath: path))
    }
}
