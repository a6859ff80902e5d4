import Fixtures
import Foundation
import FoundationNetworking
import MartletTelemetry
import Testing

@testable import Martlet

extension AgentTests {
    /// An agent with a single directory for its buffer, because the temporary directory cannot be used.
    @Suite struct OneDirectoryTests {
        private let service = "only-\(UUID().uuidString)"

        @Test(.enabled(if: SmallDisk.isPossible, "a file system of a given size can only be mounted by root"))
        func bufferIsUsedAgainWhenItCanBeWrittenAgain() async throws {
            let disk = try SmallDisk(bytes: 16 << 20)
            try await withAgentInOneDirectory(disk.url, service: service) { agent, _, base in
                _ = try await URLSession.shared.data(from: base / "hello/before")
                try disk.forbidWriting()
                while agent.status.bufferError == nil {
                    _ = try await URLSession.shared.data(from: base / "hello/meanwhile")
                    await agent.flush()
                }
                try disk.allowWriting()
                await agent.flush()
                let status = agent.status
                #expect(status.bufferError == nil)
                #expect(status.ledger.captured > 1)
                #expect(status.ledger == .init(captured: status.ledger.captured, delivered: status.ledger.captured))
                #expect(status.bufferDirectory == disk.url.appendingPathComponent(service))
            }
        }

        @Test(.enabled(if: SmallDisk.isPossible, "a file system of a given size can only be mounted by root"))
        func sumsOnAFullDiskAreRemovedBeforeTheyMissABatch() async throws {
            let disk = try SmallDisk(bytes: 16 << 20)
            try await withAgentInOneDirectory(
                disk.url, service: service,
                {
                    $0.temporality = .cumulative
                    $0.sampleRate = 0
                }
            ) { agent, _, base in
                let sums = {
                    (FileManager.default.enumerator(atPath: disk.url.path)?.allObjects as? [String] ?? [])
                        .filter { $0.hasSuffix("/\(CumulativeSums.fileName)") }
                }
                _ = try await URLSession.shared.data(from: base / "hello/x")
                await agent.flush()
                #expect(sums().count == 1)
                try disk.fill()
                _ = try await URLSession.shared.data(from: base / "hello/x")
                await agent.flush()
                #expect(agent.status.ledger == .init(captured: 2, delivered: 2))
                #expect(sums() == [])
            }
        }

        @Test func dueUploadUsesNoCPUWhileThereIsNoDirectory() async throws {
            let folder = try TemporaryFolder()
            let buffer = folder.url.appendingPathComponent("buffer")
            try await withAgentInOneDirectory(buffer, service: service) { agent, collector, base in
                collector.answer(503, 503, 503)
                _ = try await URLSession.shared.data(from: base / "hello/x")
                await agent.flush()
                #expect(agent.status.uploadError != nil)
                try FileManager.default.removeItem(at: buffer)
                try Data().write(to: buffer)
                await agent.flush()
                #expect(agent.status.bufferError != nil)
                let before = agent.status.cpuTime
                // The agent skips the next attempt, so there is no event to wait for. The test sleeps past its time.
                try await Task.sleep(for: MartletLimits.firstRetry * 2)
                await agent.flush()
                #expect(agent.status.cpuTime - before < MartletLimits.firstRetry / 4)
            }
        }
    }
}
