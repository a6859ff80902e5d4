import Foundation
import MartletStorage
import MartletTelemetry
import Testing

@testable import MartletReports

/// Equal siblings of a trace share a line.
@Suite struct TraceLineTests {
    /// - Parameter times: the milliseconds of its start and of its end.
    private func span(
        _ number: UInt8, under parent: UInt8?, _ times: ClosedRange<UInt64>,
        _ change: (inout StoredSpan) -> Void = { _ in }
    ) -> StoredSpan {
        var span = Samples.detail(number)
        span.parentSpanID = parent.flatMap { SpanID(UInt64($0)) }
        span.start = Samples.time(10) + times.lowerBound * 1_000_000
        span.durationNanoseconds = (times.upperBound - times.lowerBound) * 1_000_000
        (span.isError, span.request) = (false, Samples.dimensions())
        var stored = StoredSpan(id: "\(number)", resource: Samples.resource(), span: span)
        change(&stored)
        return stored
    }

    private func waterfall(_ spans: [StoredSpan]) -> TraceWaterfall {
        TraceWaterfall(spans.map { TraceSpan($0, after: Samples.time(10)) })
    }

    private func names(_ lines: [TraceLine]) -> [String] {
        lines.map { String(repeating: " ", count: $0.depth) + $0.spans.map(\.id).joined(separator: "+") }
    }

    @Test func threeEqualSiblingsShareALineAndTwoDoNot() {
        let root = span(1, under: nil, 0...100)
        let two = [root, span(2, under: 1, 10...20), span(3, under: 1, 30...40)]
        #expect(names(waterfall(two).folded()) == ["1", " 2", " 3"])
        let three = two + [span(4, under: 1, 50...60)]
        #expect(names(waterfall(three).folded()) == ["1", " 2+3+4"])
        #expect(names(waterfall(three).unfolded) == ["1", " 2", " 3", " 4"])
        #expect(names(waterfall(three).folded(except: "3")) == ["1", " 2", " 3", " 4"])
    }

    private static let differences: [@Sendable (inout StoredSpan) -> Void] = [
        { $0.resource.service = "other" }, { $0.span.kind = .internal }, { $0.span.name = "other" },
        { $0.span.request?.method = "PUT" }, { $0.span.request?.host = "other" }, { $0.span.request?.port = 80 },
        { $0.span.request?.endpoint = "/other" }, { $0.span.request?.system = "grpc" }, { $0.span.request = nil },
        { $0.span.parentSpanID = SpanID(9) },
    ]

    @Test(arguments: differences.indices)
    func siblingsThatDifferInAnyOfTheseDoNotShareALine(index: Int) {
        let spans = [
            span(1, under: nil, 0...100), span(2, under: 1, 10...20), span(3, under: 1, 30...40),
            span(4, under: 1, 50...60, Self.differences[index]),
        ]
        #expect(waterfall(spans).folded().allSatisfy { !$0.isFolded })
    }

    @Test func outcomeAndInstanceMayDiffer() {
        let spans = [
            span(1, under: nil, 0...100), span(2, under: 1, 10...20),
            span(3, under: 1, 30...55) { $0.span.request = Samples.dimensions(status: 503, error: "503") },
            span(4, under: 1, 60...70) { $0.resource.instance = "i-2" },
        ]
        let lines = waterfall(spans).folded()
        #expect(names(lines) == ["1", " 2+3+4"])
        #expect(lines.last.map { [$0.failed, [$0.slowest]] } == [[2], [2]])
        #expect(lines.last?.failedFirst == true)
    }

    @Test func timeOfALineIsTheTimeInWhichAnyOfItsSpansRan() throws {
        func line(_ times: [ClosedRange<UInt64>]) throws -> TraceLine {
            let spans = times.enumerated().map { span(UInt8($0.offset + 2), under: 1, $0.element) }
            return try #require(waterfall([span(1, under: nil, 0...100)] + spans).folded().last)
        }
        let rows = try line([0...10, 10...20, 50...60])
        #expect((rows.duration, rows.timeAbove, rows.isConcurrent) == (30, 100, false))
        #expect(rows.times.map { [$0.from, $0.to] } == [[0, 20], [50, 60]])
        #expect(try line([0...10, 6...16, 12...22]).isConcurrent == false)
        let together = try line([0...40, 1...30, 2...20])
        #expect((together.duration, together.isConcurrent) == (40, true))
        #expect(try line([0...10, 0...10, 20...29, 40...49]).isConcurrent == false)
        #expect(try line([5...5, 5...5, 5...5]).duration == 0)
    }

    @Test func spansBelowFoldedOnesAreFoldedTogether() {
        func spans(
            _ numbers: ClosedRange<UInt8>, lasting length: UInt64, _ change: (inout StoredSpan) -> Void = { _ in }
        )
            -> [StoredSpan]
        {
            numbers.map { span($0, under: $0 < 10 ? 1 : $0 - 10, UInt64($0) * 10...UInt64($0) * 10 + length, change) }
        }
        let calls = spans(2...5, lasting: 9)
        let served = spans(12...15, lasting: 5) { ($0.span.kind, $0.resource.service) = (.server, "files") }
        let retry = span(30, under: 13, 35...36) { $0.resource.service = "files" }
        let lines = waterfall([span(1, under: nil, 0...100)] + calls + served + [retry]).folded()
        #expect(names(lines) == ["1", " 2+3+4+5", "  12+13+14+15", "   30"])
        #expect(lines.map(\.timeAbove) == [nil, 100, 36, 20])
    }

    @Test func spansAtTheTopShareALineOnlyIfTheyNameTheSameCaller() {
        let apart = (1...3 as ClosedRange<UInt8>).map { span($0, under: nil, 0...9) }
        #expect(names(waterfall(apart).folded()) == ["1", "2", "3"])
        let siblings = (1...3 as ClosedRange<UInt8>).map { span($0, under: 99, 0...9) }
        #expect(names(waterfall(siblings).folded()) == ["1+2+3"])
        #expect(waterfall(siblings).folded().first?.timeAbove == nil)
    }

    /// A terminal reads the JSON, which has no hosts.
    @Test func terminalFoldsWhatItReadFromJSON() throws {
        let spans =
            [span(1, under: nil, 0...100)]
            + (2...4 as ClosedRange<UInt8>).map { number in
                span(number, under: 1, 10...60 + UInt64(number)) {
                    if number == 3 { $0.span.request?.error = "timeout" }
                }
            }
        let kept = try #require(RequestReport(spans[0], trace: TraceAnswer(spans: spans, more: 0)))
        let json = try Data(ReportJSON.text(of: kept).utf8)
        let text = RequestText.text(of: try ReportJSON.value(of: RequestReport.self, in: json))
        #expect(text.contains("calls 3 × GET /users/{id}"))
        #expect(text.contains("1 failed"))
        let note = "  checkout calls 3 × GET /users/{id}: at the same time, 54.0 of 100 ms, slowest 54.0 ms\n"
        #expect(text.contains(note), "\(text)")
        #expect(text.split(separator: "\n").count { $0.contains("├") } == 2)
        let all = RequestText.text(of: kept, allSpans: true)
        #expect(all.split(separator: "\n").count { $0.contains("├") } == 4 && !all.contains("×"))
    }
}
