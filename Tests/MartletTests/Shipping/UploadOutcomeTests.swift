import Foundation
import Testing

@testable import Martlet

@Suite struct UploadOutcomeTests {
    @Test func onlyTheStatusesThatTheSpecificationNamesAreRetried() {
        for status in 200..<600 {
            let outcome = UploadOutcome(status: status, retryAfter: nil, message: "")
            switch (status, outcome) {
            case (200..<300, .delivered): break
            case (429, .retry), (502, .retry), (503, .retry), (504, .retry): break
            case (300..., .rejected) where ![429, 502, 503, 504].contains(status): break
            default: Issue.record("\(status) is \(outcome)")
            }
        }
    }

    @Test func theReasonIsWhatTheCollectorSaid() {
        let outcome = UploadOutcome(status: 400, retryAfter: nil, message: "no protobuf")
        #expect(outcome == .rejected(reason: "status 400: no protobuf"))
    }

    @Test func whatAHostileCollectorSaysDoesNotReachTheTerminal() {
        let hostile = "\u{1b}[2J" + String(repeating: "x", count: 60_000)
        let outcome = UploadOutcome(status: 400, retryAfter: nil, message: hostile)
        #expect(outcome == .rejected(reason: "status 400: ?[2J" + String(repeating: "x", count: 296)))
    }

    @Test func retryAfterIsSecondsOrADate() throws {
        let now = try #require(ISO8601DateFormatter().date(from: "2026-11-21T10:00:00Z"))
        #expect(RetryAfter.delay("7", now: now) == .seconds(7))
        #expect(RetryAfter.delay("Sat, 21 Nov 2026 10:00:30 GMT", now: now) == .seconds(30))
        #expect(RetryAfter.delay("Sat, 21 Nov 2026 09:00:00 GMT", now: now) == .zero)
        #expect(RetryAfter.delay("4294967295", now: now) == MartletLimits.retryAfter)
    }

    @Test(arguments: ["", "soon", "-1", "1.5", "99999999999999999999", "nan"])
    func aRetryAfterThatIsNeitherIsIgnored(text: String) {
        #expect(RetryAfter.delay(text, now: Date()) == nil)
    }

    @Test func delaysDoubleToALimitAndStartAgainAfterASuccess() {
        var delay = RetryDelay()
        let delays = (0..<10).map { _ in delay.next(random: 1) }
        #expect(delays.prefix(4) == [.seconds(1), .seconds(2), .seconds(4), .seconds(8)])
        #expect(delays.last == MartletLimits.lastRetry)
        delay.reset()
        #expect(delay.next(random: 0) == .milliseconds(500))
    }

    @Test func aRetryAfterMakesADelayLongerAndNeverShorter() {
        var delay = RetryDelay()
        #expect(delay.next(asked: .zero, random: 1) == .seconds(1))
        #expect(delay.next(asked: .seconds(300), random: 1) == .seconds(300))
        #expect(delay.next(asked: .zero, random: 1) == .seconds(4))
    }
}
