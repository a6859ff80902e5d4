import MartletTelemetry
import Testing

@testable import Martlet

@Suite struct UploadPaceTests {
    private func pause(after duration: Duration, interval: Duration = .seconds(10), random: Double = 1) -> Duration {
        var pace = UploadPace(interval: interval)
        pace.note(duration, at: 1000, random: random)
        return .nanoseconds(Int64(pace.notBefore - 1000))
    }

    @Test func aBacklogLeavesMostOfTheTimeToOthers() {
        #expect(pause(after: .milliseconds(10)) == .milliseconds(90))
        #expect(pause(after: .milliseconds(10), random: 0) == .milliseconds(45))
        #expect(pause(after: .milliseconds(200)) == .milliseconds(1800))
    }

    /// Two batches of an interval, and more, are sent in the next.
    @Test func aSlowCollectorStillGetsMoreThanTheAgentMakes() {
        #expect(pause(after: .seconds(8)) == .seconds(4))
        #expect(pause(after: .seconds(8), interval: .seconds(1)) == .milliseconds(400))
    }

    @Test func theFirstBatchDoesNotWait() {
        #expect(UploadPace(interval: .seconds(10)).notBefore == 0)
    }
}
