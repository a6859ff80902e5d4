import Foundation
import Testing

@testable import Martlet

/// Where batches wait in a test that holds for both.
enum BatchPlace: CaseIterable, Sendable {
    case directory
    /// There is no directory that can be written.
    case memory

    /// As the function of that name, with batches in this place.
    func withAgent(
        _ change: (inout MartletConfiguration) -> Void = { _ in },
        _ body: @escaping @Sendable (MartletAgent, StubCollector, URL) async throws -> Void
    ) async throws {
        switch self {
        case .directory: try await MartletTests.withAgent(change, body)
        case .memory:
            try await withAgentInOnePlace(URL(fileURLWithPath: "/dev/null/buffer"), change) { agent, collector, base in
                try await body(agent, collector, base)
                #expect(agent.status.bufferError != nil)
                #expect(agent.status.bufferDirectory == nil)
            }
        }
    }
}

/// Runs `body` with an agent that has no other place for its batches: the temporary directory cannot be used.
func withAgentInOnePlace(
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
