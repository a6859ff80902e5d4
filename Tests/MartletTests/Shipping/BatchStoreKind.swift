import Foundation
import Testing

@testable import Martlet

/// Where batches wait, in a test that applies to both stores.
enum BatchStoreKind: CaseIterable, Sendable {
    case directory
    /// Batches wait in memory, because no directory can be written.
    case memory

    /// Runs `body` like the function of that name, with batches in this store.
    func withAgent(
        _ change: (inout MartletConfiguration) -> Void = { _ in },
        _ body: @escaping @Sendable (MartletAgent, StubCollector, URL) async throws -> Void
    ) async throws {
        switch self {
        case .directory: try await MartletTests.withAgent(change, body)
        case .memory:
            try await withAgentInOneDirectory(URL(fileURLWithPath: "/dev/null/buffer"), change) {
                agent, collector, base in
                try await body(agent, collector, base)
                #expect(agent.status.bufferError != nil)
                #expect(agent.status.bufferDirectory == nil)
            }
        }
    }
}

/// Runs `body` with an agent that can use no directory except `buffer`: the temporary directory is blocked.
func withAgentInOneDirectory(
    _ buffer: URL, service: String = "only-\(UUID().uuidString)",
    _ change: (inout MartletConfiguration) -> Void = { _ in },
    _ body: @escaping @Sendable (MartletAgent, StubCollector, URL) async throws -> Void
) async throws {
    var configuration = MartletConfiguration()
    configuration.serviceName = service
    let obstacle = try #require(BufferDirectory.candidates(for: configuration, environment: [:]).last)
    try Data().write(to: obstacle)
    defer { try? FileManager.default.removeItem(at: obstacle) }
    try await withAgent(
        {
            change(&$0)
            $0.serviceName = service
            $0.bufferDirectory = buffer
        }, body)
}
