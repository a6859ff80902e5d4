import MartletTelemetry
import Testing

@testable import MartletReports

@Suite struct TimeExpressionTests {
    private func time(_ text: String) throws -> UnixNanoseconds { try #require(TimeText.parse(text, now: 0)) }

    @Test(arguments: [
        ("2026-11-21T09:30:00Z", "yesterday", "2026-11-20T00:00:00Z"),
        ("2026-11-21T00:00:00Z", "yesterday", "2026-11-20T00:00:00Z"),
        ("2026-11-20T23:59:59Z", "yesterday", "2026-11-19T00:00:00Z"),
        ("2026-03-01T12:00:00Z", "yesterday", "2026-02-28T00:00:00Z"),
        ("2027-01-01T00:00:01Z", "yesterday", "2026-12-31T00:00:00Z"),
        ("2026-11-21T00:00:00Z", "today", "2026-11-21T00:00:00Z"),
        ("2026-11-20T23:59:59Z", "today", "2026-11-20T00:00:00Z"),
        ("2026-11-21T14:00:00Z", "14:00", "2026-11-21T14:00:00Z"),
        ("2026-11-21T13:59:59Z", "14:00", "2026-11-20T14:00:00Z"),
        ("2026-11-21T00:00:00Z", "00:00", "2026-11-21T00:00:00Z"),
        ("2026-11-20T23:59:59Z", "23:59:59", "2026-11-20T23:59:59Z"),
        ("2026-11-21T00:00:00Z", "23:59:59", "2026-11-20T23:59:59Z"),
    ])
    func dayOrTimeOfDayIsTheLatestInThePast(now: String, text: String, expected: String) throws {
        #expect(try TimeExpression.parse(text, now: time(now)) == time(expected))
    }

    @Test func formsOfTimeTextAreUnchanged() throws {
        let now = try time("2026-11-21T09:30:00Z")
        #expect(TimeExpression.parse("90s", now: now) == now - 90_000_000_000)
        #expect(try TimeExpression.parse("2026-11-21T10:00:00+02:00", now: now) == time("2026-11-21T08:00:00Z"))
    }

    @Test(arguments: [
        "", "tomorrow", "Yesterday", "24:00", "14:60", "14:00:60", "1:00", "14", "14:00:00:00", "14.00", "-1:00",
        "+1:00",
        "١٤:٠٠", "14:00 ", "14:", ":00",
    ])
    func otherTextsAreNotTimes(text: String) throws {
        #expect(try TimeExpression.parse(text, now: time("2026-11-21T09:30:00Z")) == nil)
    }

    /// The end of a window is also the latest such time, unless the window would end before it begins.
    @Test(arguments: [
        ("2026-11-21T13:40:00Z", "2026-11-21T13:37:00Z", "13:43", "2026-11-21T13:43:00Z"),
        ("2026-11-21T00:30:00Z", "2026-11-20T23:50:00Z", "00:10", "2026-11-21T00:10:00Z"),
        ("2026-11-21T09:00:00Z", "2026-11-20T00:00:00Z", "14:00", "2026-11-20T14:00:00Z"),
        ("2026-11-21T15:00:00Z", "2026-11-14T15:00:00Z", "14:00", "2026-11-21T14:00:00Z"),
    ])
    func endIsAfterItsBeginning(now: String, since: String, until: String, expected: String) throws {
        #expect(try TimeExpression.parse(until, now: time(now), after: time(since)) == time(expected))
    }

    /// Berlin's clocks went from 03:00 to 02:00 at 2026-10-25T01:00:00Z.
    private let berlin = UTCOffset { $0 < 1_792_890_000 ? 7200 : 3600 }

    @Test(arguments: [
        ("2026-11-20T23:30:00Z", "today", "2026-11-20T23:00:00Z"),
        ("2026-11-20T22:30:00Z", "today", "2026-11-19T23:00:00Z"),
        ("2026-10-25T12:00:00Z", "today", "2026-10-24T22:00:00Z"),
        ("2026-10-25T12:00:00Z", "00:30", "2026-10-24T22:30:00Z"),
        ("2026-10-26T12:00:00Z", "yesterday", "2026-10-24T22:00:00Z"),
        ("2026-11-21T12:59:00Z", "14:00", "2026-11-20T13:00:00Z"),
    ])
    func daysAndTimesAreReadInTheGivenZone(now: String, text: String, expected: String) throws {
        #expect(try TimeExpression.parse(text, now: time(now), in: berlin) == time(expected))
    }

    /// Zones whose summer time begins at midnight: their offsets before and after, and the date of that day.
    @Test(arguments: [
        (-14_400, -10_800, "2026-09-06"), (7200, 10_800, "2026-03-29"), (7200, 10_800, "2026-04-24"),
        (-18_000, -14_400, "2026-03-08"), (-3600, 0, "2026-03-29"), (37_800, 39_600, "2026-10-04"),
    ])
    func dayWithoutAMidnightBeginsWithSummerTime(before: Int, after: Int, date: String) throws {
        let second: UInt64 = 1_000_000_000
        let start = Int(try time("\(date)T00:00:00Z") / second) - before
        let zone = UTCOffset { $0 < start ? before : after }
        let begin = UInt64(start) * second
        for hours in [0, 1, 12, 22] as [UInt64] {
            let now = begin + hours * 3600 * second
            #expect(TimeExpression.parse("today", now: now, in: zone) == begin)
            #expect(TimeExpression.parse("yesterday", now: now + 86_400 * second, in: zone) == begin)
            #expect(TimeExpression.parse("yesterday", now: now, in: zone) == begin - 86_400 * second)
        }
    }

    @Test func absoluteTextMeansTheSameInEveryZone() throws {
        let now = try time("2026-11-21T12:59:00Z")
        #expect(TimeExpression.absolute("14:00", now: now, in: berlin) == "2026-11-20T13:00:00Z")
        for text in ["1h", "2026-11-21T10:00:00+02:00", "nonsense"] {
            #expect(TimeExpression.absolute(text, now: now, in: berlin) == text)
        }
    }

    @Test func daysAreInUTCWithoutTZ() {
        for variables in [[:], ["TZ": ""]] { #expect(UTCOffset.environment(variables).seconds(1_790_000_000) == 0) }
    }
}
