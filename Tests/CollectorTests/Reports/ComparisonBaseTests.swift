import Fixtures
import MartletStorage
import MartletTelemetry
import Testing

@testable import MartletReports

@Suite struct ComparisonBaseTests {
    private static let (second, hour, day): (UInt64, UInt64, UInt64) = (
        1_000_000_000, 3_600_000_000_000, 86_400_000_000_000
    )
    /// A whole hour.
    private static let start = ComparedStore.start

    private func query(_ from: UInt64, _ to: UInt64) -> StatisticsQuery {
        StatisticsQuery(window: TimeWindow(from: Self.start + from, to: Self.start + to), by: [.endpoint])
    }

    @Test(
        arguments: [
            ("previous", .previous), ("day", .earlier(day)), ("week", .earlier(7 * day)), ("2h", .earlier(2 * hour)),
            ("90s", .earlier(90 * second)), ("36h", .earlier(36 * hour)), ("500ms", .earlier(500_000_000)),
            ("version:1.8..1.9", .versions(before: "1.8", after: "1.9")),
            ("version:a b..ü..c", .versions(before: "a b", after: "ü..c")),
        ] as [(String, ComparisonBase)])
    func parameterIsReadAndWritten(text: String, base: ComparisonBase) throws {
        #expect(try ComparisonBase(text) == base)
        #expect(base.text == text)
    }

    @Test(arguments: [
        "", "yesterday", "0s", "-1h", "version", "version:", "version:1.8", "version:..", "version:1.8..",
        "version:..1.9", "PREVIOUS", "previous ", "1.8..1.9", "99999999999999999999d",
    ])
    func anythingElseIsRefused(text: String) {
        #expect(throws: ParameterError.self) { try ComparisonBase(text) }
    }

    @Test func windowBeforeHasTheSameLength() throws {
        let query = query(2 * Self.hour, 3 * Self.hour)
        for (base, from) in [(.previous, Self.hour), (.earlier(2 * Self.hour), 0)] as [(ComparisonBase, UInt64)] {
            let before = base.query(before: query, answeredFor: query.window)
            #expect(before.window == TimeWindow(from: Self.start + from, to: Self.start + from + Self.hour))
            #expect(before.filter == query.filter)
        }
    }

    /// The store answers for whole hours if it has no finer figures.
    @Test func noRequestIsInBothWindowsEvenIfTheStoreWidensThem() {
        let query = query(Self.hour / 2, Self.hour)
        let answered = TimeWindow(from: Self.start, to: Self.start + Self.hour)
        for base in [ComparisonBase.previous, .earlier(Self.hour / 2)] {
            #expect(base.query(before: query, answeredFor: answered).window.to == Self.start)
        }
    }

    @Test func windowBefore1970IsCutOff() {
        let window = TimeWindow(from: Self.hour, to: 2 * Self.hour)
        let query = StatisticsQuery(window: window, by: [])
        let before = ComparisonBase.earlier(3 * Self.hour).query(before: query, answeredFor: window)
        #expect(before.window == TimeWindow(from: 0, to: 0))
    }

    @Test func comparisonUsesTheGivenWindow() {
        let asked = query(14 * Self.second + 5, Self.hour + 19 * Self.second)
        #expect(ComparisonBase.previous.query(after: asked) == asked)
    }

    @Test func twoVersionsAreComparedInTheSameWindow() {
        let query = query(0, Self.hour)
        let base = ComparisonBase.versions(before: "1", after: "2")
        #expect(base.query(after: query).filter.wanted == [.version: ["2"]])
        let before = base.query(before: query, answeredFor: query.window)
        #expect(before.filter.wanted == [.version: ["1"]])
        #expect(before.window == query.window)
    }

    @Test(
        arguments: [
            [("compare", "someday")], [("since", "2h"), ("compare", "1h")], [("since", "2d"), ("compare", "day")],
            [("compare", "version:1..2"), ("version", "2")], [("compare", "version:1..2"), ("by", "service,version")],
            [("compare", "version:2..2")],
        ])
    func comparisonWithItselfIsRefused(parameters: [(String, String)]) throws {
        let parameters = try ReportParameters(parameters)
        let query = try parameters.query(now: Self.start)
        #expect(throws: ParameterError.self) { try parameters.comparison(of: query) }
    }

    @Test func seriesIsNeverCompared() throws {
        let parameters = try ReportParameters([("compare", "previous")])
        #expect(throws: ParameterError("compare works for reports, not for series")) {
            try parameters.seriesQuery(now: Self.start)
        }
    }
}
