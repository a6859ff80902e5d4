import Dispatch
import Fixtures
import Foundation
import Testing
import Tracing

@testable import Martlet

extension AgentTests {
    /// `MARTLET_MAX_MEMORY` while spans are recorded.
    @Suite struct MemoryTests {
        /// Records spans with 28 KiB of kept attributes each.
        private static func end(spans number: Int) {
            for _ in 0..<number {
                let span = MartletTracer().startSpan("large", context: .topLevel)
                for number in 0..<14 { span.attributes["text-\(number)"] = String(repeating: "x", count: 2048) }
                span.end()
            }
        }

        @Test func batchesBeingStoredCountTowardsTheMemoryLimit() async throws {
            try await withAgent({
                $0.maxMemory = 4 << 20
                $0.sampleRate = 1
            }) { agent, _, _ in
                let (stored, isStored) = AsyncStream.makeStream(of: Never.self)
                let gate = DispatchSemaphore(value: 0)
                ShippingMilestone.listener.withLock { listener in
                    listener = { milestone in
                        guard milestone == .stored else { return }
                        isStored.finish()
                        gate.wait()
                    }
                }
                while agent.status.droppedDetails == 0 { Self.end(spans: 1) }
                let (held, dropped) = (agent.status.memoryBytes, agent.status.droppedDetails)
                #expect(held >= 1 << 20)
                async let flush: Void = agent.flush()
                for await _ in stored {}
                ShippingMilestone.listener.withLock { $0 = nil }
                #expect(agent.status.memoryBytes >= held)
                Self.end(spans: 100)
                #expect(agent.status.droppedDetails == dropped + 100)
                #expect(agent.status.memoryBytes <= 4 << 20)
                gate.signal()
                await flush
                #expect(agent.status.memoryBytes < held)
            }
        }

        @Test(.enabled(if: SmallDisk.isPossible, "a file system of a given size can only be mounted by root"))
        func spansTakeOnlyTheirShareOfMemoryOnAFullDisk() async throws {
            let disk = try SmallDisk(bytes: 16 << 20)
            let limit = 4 << 20
            try await withAgentInOneDirectory(
                disk.url,
                {
                    $0.maxMemory = limit
                    $0.sampleRate = 1
                    $0.compression = .none
                }
            ) { agent, collector, base in
                for _ in 0..<1000 { collector.answer(503) }
                await agent.flush()
                try disk.fill()
                var most = 0
                for _ in 0..<20 {
                    for _ in 0..<20 {
                        Self.end(spans: 5)
                        most = max(most, agent.status.memoryBytes)
                    }
                    await agent.flush()
                    most = max(most, agent.status.memoryBytes)
                }
                #expect(agent.status.bufferError != nil)
                #expect(agent.status.droppedDetails > 0)
                #expect(most > limit / 8)
                #expect(most <= limit)
            }
        }
    }
}
