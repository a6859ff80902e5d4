import MartletIntake
import MartletOTLP
import MartletStorage
import MartletTelemetry
import SwiftProtobuf
import Testing

/// Ends of earlier processes, as the next process of a service reports them.
@Suite struct IntakeEndTests {
    /// A point of an interval from second 4 to second 10.
    static func point(_ texts: [String: String], start: UInt64 = 4, value: Int64 = 1) -> OTLPNumberDataPoint {
        var point = OTLPNumberDataPoint()
        point.asInt = value
        point.startTimeUnixNano = start > 0 ? Samples.time(start) : 0
        point.timeUnixNano = Samples.time(10)
        point.attributes = texts.sorted { $0.key < $1.key }.map { OTLPKeyValue($0.key, $0.value) }
        return point
    }

    static func request(
        _ points: [OTLPNumberDataPoint], _ temporality: OTLPAggregationTemporality = .delta
    ) -> OTLPExportMetricsServiceRequest {
        var metric = OTLPMetric()
        (metric.name, metric.unit) = (MetricName.processEnd, "{process}")
        metric.sum.aggregationTemporality = temporality
        metric.sum.isMonotonic = true
        metric.sum.dataPoints = points
        let resource = ["service.name": "shop", "service.version": "1.5.0", "service.instance.id": "new"]
        return OtherMetrics.request(
            scopes: [[metric]], resource: resource.map { OTLPKeyValue($0.key, $0.value) })
    }

    private func take(
        _ points: [OTLPNumberDataPoint], _ temporality: OTLPAggregationTemporality = .delta
    ) throws -> IntakeResult<InstanceMetrics> {
        try Intake().metrics(try Self.request(points, temporality).serializedBytes(), encoding: .identity)
    }

    private static let whole = [
        "martlet.ended.instance": "old", "martlet.reason": "signal", "martlet.ended.signal": "SIGILL",
        "code.function.name": "crash()", "code.file.path": "App/main.swift", "code.line.number": "41",
    ]

    @Test func endOfAnAgentsBatchIsTakenFromBothFormsOfABody() throws {
        let batch = Samples.batch([Samples.end(of: "old")])
        let body = try batch.otlp()
        let json = try OTLPExportMetricsServiceRequest(serializedBytes: body).jsonString()
        let expected = ReportedEnd(
            instance: "old", version: "1.2", time: Samples.time(7), cause: .signal, signal: "SIGILL",
            function: "crash()", file: "App/main.swift", line: 41, endpoint: "GET /files/{name}")
        for taken in [
            try Intake().metrics(body, encoding: .identity),
            try Intake().metrics(Array(json.utf8), encoding: .identity, format: .json),
        ] {
            #expect(taken.values.map(\.ends) == [[expected]])
            #expect(taken.refusals.total == 0 && taken.ignored == 0)
        }
    }

    @Test func placeWithoutAFunctionIsAnAddressAndCallsAreNamedIfNothingWasServed() throws {
        var end = Samples.end(of: "old")
        (end.places, end.build) = ([CodePlace(function: "App+0x41f0")], "ab12")
        end.requests.removeLast()
        let batch = Samples.batch([end])
        let taken = try #require(try Intake().metrics(batch.otlp(), encoding: .identity).values.first?.ends.first)
        #expect(taken.function == "App+0x41f0" && taken.file == nil && taken.endpoint == "GET /prices")
    }

    @Test(
        arguments: [
            ("SIGKILL", .killed, "SIGKILL"), ("SIGILL", .signal, "SIGILL"), ("out_of_memory", .outOfMemory, nil),
            ("clean", .clean, nil), ("exit", .exit, nil), ("no_time", .noTime, nil), ("host_down", .hostDown, nil),
            ("unknown", .unknown, nil), ("gremlins", .unknown, nil),
        ] as [(String, EndCause, String?)])
    func reasonIsACauseOrASignal(reason: String, cause: EndCause, signal: String?) throws {
        let taken = try take([Self.point(["martlet.ended.instance": "old", "martlet.reason": reason], start: 0)])
        let end = ReportedEnd(
            instance: "old", version: "1.5.0", time: Samples.time(10), cause: cause, signal: signal)
        #expect(taken.values.map(\.ends) == [[end]])
    }

    @Test func everyCauseOfTheWireIsRead() throws {
        for cause in EndCause.allCases {
            let texts = ["martlet.ended.instance": "old", "martlet.reason": cause.rawValue]
            #expect(try take([Self.point(texts)]).values.first?.ends.map(\.cause) == [cause])
        }
    }

    @Test func longTextsAreCut() throws {
        let long = String(repeating: "x", count: 5000)
        let texts = Self.whole.mapValues { $0 == "signal" || $0 == "old" || $0 == "41" ? $0 : long }
        let end = try #require(try take([Self.point(texts)]).values.first?.ends.first)
        for text in [end.signal, end.function, end.file] { #expect(text?.utf8.count == 256) }
    }

    @Test func impossibleEndsAreRefusedAndTheOthersTaken() throws {
        let nameless = Self.point(["martlet.reason": "SIGILL"])
        let long = Self.point(["martlet.ended.instance": String(repeating: "x", count: 1025)])
        var timeless = Self.point(Self.whole, start: 0)
        timeless.timeUnixNano = 0
        let taken = try take([nameless, long, timeless, Self.point(Self.whole, value: 0), Self.point(Self.whole)])
        #expect(taken.values.first?.ends.count == 1)
        #expect(taken.refusals.total == 3 && taken.ignored == 1)
        #expect(taken.refusals.message.contains("process"))
    }

    @Test func sumOfAnotherFormAndTooManyEndsAreRefused() throws {
        #expect(try take([Self.point(Self.whole)], .cumulative).refusals.total == 1)
        let many = Array(repeating: Self.point(Self.whole), count: 1025)
        let taken = try take(many)
        #expect(taken.values.isEmpty && taken.refusals.total == 1025)
    }
}
