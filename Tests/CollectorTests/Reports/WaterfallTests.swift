import MartletStorage
import MartletTelemetry
import Testing

@testable import MartletReports

@Suite struct PhaseWaterfallTests {
    private func waterfall(
        _ phases: [RequestPhase: Double], duration: Double, status: Int? = 200, error: String? = nil,
        url: String = "https://api.example.com/", isReused: Bool = false
    ) throws -> PhaseWaterfall {
        let report = try report(phases, duration: duration, status: status, error: error, url: url, isReused: isReused)
        return try #require(PhaseWaterfall(report))
    }

    private func report(
        _ phases: [RequestPhase: Double], duration: Double, status: Int? = 200, error: String? = nil,
        url: String = "", isReused: Bool = false
    ) throws -> RequestReport {
        var span = Samples.detail(1)
        span.request = Samples.dimensions(status: status, error: error)
        span.durationNanoseconds = UInt64(duration * 1e6)
        span.url = url
        span.attributes = Dictionary(
            uniqueKeysWithValues: phases.map { ("martlet.phase.\($0.key.rawValue)", .double($0.value / 1000)) })
        span.attributes["martlet.connection.reused"] = .boolean(isReused)
        let stored = StoredSpan(id: "a", resource: Samples.resource(), span: span)
        return try #require(RequestReport(stored, trace: TraceAnswer(spans: [stored], more: 0)))
    }

    @Test func phaseBeginsWhereThePreviousOneEnded() throws {
        let waterfall = try waterfall(
            [.queue: 1, .dns: 2, .connect: 4, .tls: 8, .firstByte: 16, .transfer: 32], duration: 64)
        #expect(waterfall.bars.map(\.phase) == RequestPhase.allCases)
        #expect(waterfall.bars.map(\.start) == [0, 1, 3, 7, 15, 31])
        #expect(waterfall.bars.map(\.length) == [1, 2, 4, 8, 16, 32])
        #expect(waterfall.bars.allSatisfy { !$0.isUnfinished })
        #expect(waterfall.scale == 64)
        #expect(waterfall.connection == .new)
    }

    @Test func listBarAssignsTimeOutsideThePhasesToNoSide() throws {
        func bar(_ phases: [RequestPhase: Double], status: Int? = 200, error: String? = nil) throws -> String {
            PhaseBar.text(of: try report(phases, duration: 2000, status: status, error: error, isReused: true).summary)
        }
        #expect(try bar([.queue: 1], status: nil, error: "timeout") == "░" + String(repeating: "·", count: 18))
        #expect(
            try bar([.queue: 1, .connect: 200, .tls: 200], status: nil, error: "timeout")
                == "░" + String(repeating: "▒", count: 4) + String(repeating: "█", count: 14))
        #expect(try bar([.queue: 200, .firstByte: 1800]) == "░░" + String(repeating: "█", count: 16))
        #expect(try bar([:]) == "")
    }

    @Test func scaleIncludesPhasesThatAreLongerThanTheRequest() throws {
        #expect(try waterfall([.queue: 3, .firstByte: 4], duration: 5).scale == 7)
    }

    @Test func responseWithoutAConnectPhaseUsedAReusedConnection() throws {
        #expect(try waterfall([.queue: 1, .firstByte: 2, .transfer: 1], duration: 4).connection == .reused)
        let waited = try waterfall([.queue: 1], duration: 4, status: nil, error: "timeout", isReused: true)
        #expect(waited.connection == .reused)
        #expect(try waterfall([.queue: 1], duration: 4, status: nil, error: "dns").connection == .unknown)
    }

    @Test func restOfAFailedRequestIsThePhaseInWhichItFailed() throws {
        let open = { (phases: [RequestPhase: Double], error: String, url: String) in
            let bars = try waterfall(
                phases, duration: 2000, status: nil, error: error, url: url, isReused: phases.count == 1
            ).bars
            let last = try #require(bars.last)
            #expect(last.start + last.length == 2000)
            #expect(last.isUnfinished)
            return last.phase
        }
        let (secure, plain) = ("https://a/", "http://a/")
        #expect(try open([.queue: 1], "timeout", secure) == .firstByte)
        #expect(try open([.queue: 1, .dns: 1], "connection_refused", secure) == .connect)
        #expect(try open([.queue: 1, .dns: 1, .connect: 1], "tls", secure) == .tls)
        #expect(try open([.queue: 1, .dns: 1, .connect: 1], "timeout", plain) == .firstByte)
        #expect(try open([.queue: 1, .dns: 1, .connect: 1, .tls: 1], "connection_reset", secure) == .firstByte)
    }

    @Test func answeredRequestHasNoUnfinishedPhase() throws {
        let answered = try waterfall([.queue: 1, .firstByte: 2], duration: 9, status: 503, error: "503")
        #expect(answered.bars.map(\.phase) == [.queue, .firstByte])
        let unknown = try waterfall([.queue: 1], duration: 9, status: nil, error: "dns")
        #expect(unknown.bars.map(\.phase) == [.queue])
    }

    @Test func requestWithoutPhasesHasNoWaterfall() throws {
        #expect(PhaseWaterfall(try report([:], duration: 1)) == nil)
    }
}

@Suite struct TraceWaterfallTests {
    /// - Parameter times: the milliseconds of its start and of its end.
    private func span(
        _ number: UInt8, under parent: UInt8? = nil, _ times: ClosedRange<UInt64>, of service: String = "checkout",
        error: String? = nil
    ) -> StoredSpan {
        var span = Samples.detail(number)
        span.parentSpanID = parent.flatMap { SpanID(UInt64($0)) }
        span.start = Samples.time(10) + times.lowerBound * 1_000_000
        span.durationNanoseconds = (times.upperBound - times.lowerBound) * 1_000_000
        (span.isError, span.request) = (error != nil, Samples.dimensions(status: nil, error: error))
        return StoredSpan(id: "\(number)", resource: Samples.resource(service, instance: service + "-1"), span: span)
    }

    private func waterfall(_ spans: [StoredSpan]) -> TraceWaterfall {
        let first = spans.map(\.span.start).min() ?? 0
        return TraceWaterfall(spans.map { TraceSpan($0, after: first) })
    }

    @Test func axisEndsWithTheLastSpan() {
        let trace = waterfall([span(1, 0...20), span(2, under: 1, 5...31, of: "payments")])
        #expect(trace.scale == 31)
        #expect(trace.services == ["checkout", "payments"])
        #expect(trace.rows.map(\.depth) == [0, 1])
    }

    @Test func firstFailureIsTheOneWithoutFailuresBelowIt() {
        let trace = waterfall([
            span(1, 0...90, error: "502"), span(2, under: 1, 1...10), span(3, under: 1, 11...80, error: "503"),
            // The clock of payments is ahead.
            span(4, under: 3, 12...82, of: "payments", error: "503"), span(5, under: 4, 13...60, of: "payments"),
            span(6, under: 1, 81...89, error: "404"),
        ])
        #expect(trace.rows.filter(\.failedFirst).map(\.span.id) == ["4"])
    }

    @Test func cancelledRequestIsNotAFailure() {
        let trace = waterfall([span(1, 0...90, error: "503"), span(2, under: 1, 1...10, error: "cancelled")])
        #expect(trace.rows.filter(\.failedFirst).map(\.span.id) == ["1"])
        #expect(waterfall([span(1, 0...90)]).rows.allSatisfy { !$0.failedFirst })
    }

    @Test func clockIsReportedIfASpanBeginsBeforeItsCaller() {
        let trace = waterfall([
            span(1, 40...90), span(2, under: 1, 38...50, of: "payments"), span(3, under: 1, 2...60, of: "payments"),
            span(4, under: 1, 39...50, of: "catalog"), span(5, under: 1, 30...50),
        ])
        #expect(
            trace.skews == [
                .init(sender: "payments (payments-1)", behind: 38, caller: "checkout (checkout-1)")
            ])
    }

    @Test(arguments: ["", "1"])
    func servicesWithTheSameOrNoInstanceNameHaveSeparateClocks(instance: String) {
        var spans = [span(1, 40...90), span(2, under: 1, 2...60, of: "payments")]
        for index in spans.indices { spans[index].resource.instance = instance }
        let name = instance.isEmpty ? "" : " (1)"
        #expect(
            waterfall(spans).skews == [.init(sender: "payments\(name)", behind: 38, caller: "checkout\(name)")])
    }
}
