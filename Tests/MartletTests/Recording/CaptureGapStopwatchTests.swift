import Foundation
import FoundationNetworking
import Testing

@testable import Martlet

@Suite struct CaptureGapStopwatchTests {
    private let stopwatch = CaptureGapStopwatch()

    @Test func totalIncludesAnOngoingGap() {
        stopwatch.begin(at: 10)
        #expect(stopwatch.nanoseconds(at: 15) == 5)
        stopwatch.end(at: 20)
        #expect(stopwatch.nanoseconds(at: 100) == 10)
        stopwatch.begin(at: 100)
        #expect(stopwatch.nanoseconds(at: 103) == 13)
    }

    @Test func ongoingGapDoesNotRestart() {
        stopwatch.begin(at: 10)
        stopwatch.begin(at: 15)
        stopwatch.end(at: 20)
        stopwatch.end(at: 30)
        #expect(stopwatch.nanoseconds(at: 40) == 10)
    }
}

extension AgentTests {
    @Suite struct CaptureGapTests {
        @Test func collectorLearnsSoonThatCaptureWasSwitchedOffAndOn() async throws {
            try await withAgent { agent, collector, base in
                try await uploadFirst(agent, base)
                #expect(agent.status.unwatched == .zero)
                agent.isCapturing = false
                await collector.awaitPosts(2)
                let first = agent.status.unwatched
                #expect(first > .zero)
                _ = try await URLSession.shared.data(from: base / "hello/unseen")
                agent.isCapturing = true
                await collector.awaitPosts(3)
                let whole = agent.status.unwatched
                #expect(whole > first)
                _ = try await URLSession.shared.data(from: base / "hello/seen")
                await agent.flush()
                #expect(agent.status.unwatched == whole)
                let (reported, counts) = (try collector.captureGaps(), try collector.counts())
                #expect(reported.count == 4)
                #expect(reported[0] == 0)
                #expect(reported[1] > 0 && reported[1] <= first.seconds)
                #expect(abs(reported[2] - whole.seconds) < 1e-6)
                #expect(reported[3] == reported[2])
                #expect(counts == ["/hello/first": 1, "/hello/seen": 1])
            }
        }

        @Test func flushReportsTheCaptureGapSoFar() async throws {
            try await withAgent { agent, collector, base in
                try await uploadFirst(agent, base)
                agent.isCapturing = false
                await collector.awaitPosts(2)
                let before = agent.status.unwatched
                await agent.flush()
                let reported = try collector.captureGaps()
                #expect(reported[2] >= before.seconds)
            }
        }

        /// Makes a request and uploads it. Over `URLSession` an agent uploads nothing by itself before its first
        /// interval ends.
        private func uploadFirst(_ agent: MartletAgent, _ base: URL) async throws {
            _ = try await URLSession.shared.data(from: base / "hello/first")
            await agent.flush()
        }

        @Test func captureGapIncludesTheTimeAfterInternalErrors() async throws {
            try await withAgent { agent, collector, _ in
                for _ in 0..<MartletLimits.faults { CaptureSwitch.note(.noHandle) }
                await agent.flush()
                let reported = try collector.captureGaps()
                #expect(reported[0] > 0)
            }
        }

        @Test func agentInMemoryHasNoCaptureGap() async {
            let agent = MartletAgent.inMemory()
            agent.isCapturing = false
            #expect(agent.status.unwatched == .zero)
            await agent.shutdown()
        }

        @Test func agentInMemoryAddsNoCaptureGapToTheAgentItReplaces() async throws {
            try await withAgent { agent, _, _ in
                agent.isCapturing = false
                let test = MartletAgent.inMemory()
                let before = agent.status.unwatched
                #expect(before > .zero)
                #expect(agent.status.unwatched == before)
                await test.shutdown()
                #expect(agent.status.unwatched == before)
            }
        }
    }
}
