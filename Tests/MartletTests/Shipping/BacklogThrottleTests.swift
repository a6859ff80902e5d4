import MartletTelemetry
import Testing

@testable import Martlet

@Suite struct BacklogThrottleTests {
    private func pause(after duration: Duration, interval: Duration = .seconds(10), random: Double = 1) -> Duration {
        var pace = BacklogThrottle(interval: interval)
        pace.note(duration, at: 1000, random: random)
        return .nanoseconds(Int64(pace.notBefore - 1000))
    }

    @Test func backlogUploadsLeaveMostOfTheTimeToOtherAgents() {
        #expect(pause(after: .milliseconds(10)) == .milliseconds(90))
        #expect(pause(after: .milliseconds(10), random: 0) == .milliseconds(45))
        #expect(pause(after: .milliseconds(200)) == .milliseconds(1800))
    }

    /// In each interval, more than the two batches of an interval are sent.
    @Test func slowCollectorStillGetsMoreThanTheAgentMakes() {
        #expect(pause(after: .seconds(8)) == .seconds(4))
        #expect(pause(after: .seconds(8), interval: .seconds(1)) == .milliseconds(400))
    }

    /// If agents considered only the latest upload, they would all rush to a collector whose queue has just emptied.
    @Test func slowUploadIsRememberedForSomeTime() {
        var pace = BacklogThrottle(interval: .seconds(10))
        let pauses = [100, 1, 1].map { milliseconds in
            pace.note(.milliseconds(milliseconds), at: 0, random: 1)
            return Int(pace.notBefore / 1000)
        }
        #expect(pauses == [900_000, 855_000, 812_250])
    }

    @Test func firstBatchDoesNotWait() {
        #expect(BacklogThrottle(interval: .seconds(10)).notBefore == 0)
    }
}
