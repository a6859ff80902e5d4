import Fixtures
import MartletOTLP
import MartletTelemetry
import SwiftProtobuf
import Testing

@testable import MartletIntake

/// The reading of metrics from the bytes of a body, compared with the messages that SwiftProtobuf decodes.
@Suite struct MetricsReadingTests {
    private static let seed: UInt64 = 20_261_122
    /// Points with the same attributes may be of any of these.
    private static let measured = [
        MeasuredRequests(kind: .client), MeasuredRequests(kind: .server),
        MeasuredRequests(kind: .client, conventions: .database),
        MeasuredRequests(kind: .client, conventions: .messaging),
    ]

    @Test func pointsReadTheSameAsWithSwiftProtobuf() throws {
        var random = SeededGenerator(seed: Self.seed)
        let known = KnownAttributes()
        var read = 0
        for _ in 0..<300 {
            let metric = Self.metric(&random)
            let body = ProtobufReader(try metric.serializedBytes())
            let encoded = try EncodedMetric(0..<body.bytes.count, of: body)
            #expect(encoded.name == metric.name && encoded.unit == metric.unit)
            #expect(try encoded.message() == metric)
            guard let histogram = encoded.histogram else {
                #expect(metric.points.isEmpty)
                continue
            }
            #expect(histogram.temporality == metric.temporality)
            for requests in Self.measured {
                var points = HistogramPoints(histogram, of: requests, known)
                for expected in metric.points where expected.figures.count > 0 || expected.buckets.hasValues {
                    let point = try #require(try points.next())
                    #expect(point.figures == expected.figures)
                    #expect(point.buckets == expected.buckets)
                    #expect(point.attributes.decoded == expected.attributes)
                    #expect(
                        point.attributes.series.value
                            == RequestDimensions(requests, expected.attributes))
                    read += 1
                }
                #expect(try points.next() == nil)
            }
        }
        #expect(read > 1000)
    }

    /// The bodies are valid, but no encoder writes them in this form.
    @Test func unusualBodiesReadTheSameAsWithSwiftProtobuf() throws {
        var random = SeededGenerator(seed: Self.seed + 1)
        var outcomes: [Outcome: Int] = [:]
        for round in UInt64(0)..<3000 {
            var unusual = UnusualMessages(seed: Self.seed + round, rarity: [8, 40, 200][Int(round % 3)])
            let body = unusual.rewritten(try Self.request(&random).serializedBytes(), as: .metricsRequest)
            outcomes[try compare(body, "round \(round)"), default: 0] += 1
        }
        #expect(Outcome.allCases.allSatisfy { (outcomes[$0] ?? 0) > 50 }, "\(outcomes)")
    }

    @Test func damagedBodiesAreTakenOrRefusedAsBySwiftProtobuf() throws {
        var random = SeededGenerator(seed: Self.seed + 2)
        var outcomes: [Outcome: Int] = [:]
        for round in 0..<3000 {
            var body: [UInt8] = try Self.request(&random).serializedBytes()
            for _ in 0..<Int.random(in: 1...3, using: &random) where !body.isEmpty {
                let index = Int.random(in: 0..<body.count, using: &random)
                switch Int.random(in: 0..<4, using: &random) {
                case 0: body[index] = .random(in: 0...255, using: &random)
                case 1: body[index] ^= UInt8(1) << UInt8.random(in: 0..<8, using: &random)
                case 2: body.remove(at: index)
                default: body.removeLast(body.count - index)
                }
            }
            outcomes[try compare(body, "round \(round)"), default: 0] += 1
        }
        #expect([.readWhereItStands, .refused].allSatisfy { (outcomes[$0] ?? 0) > 50 }, "\(outcomes)")
    }

    @Test func bodyReadsTheSameTheSecondTime() throws {
        var random = SeededGenerator(seed: Self.seed + 3)
        let intake = Intake()
        for _ in 0..<200 {
            let body: [UInt8] = try Self.request(&random).serializedBytes()
            let first = try intake.metrics(body, encoding: .identity)
            #expect(try intake.metrics(body, encoding: .identity) == first)
            #expect(try Intake().metrics(body, encoding: .identity) == first)
        }
    }

    // MARK: -

    private enum Outcome: CaseIterable {
        case readWhereItStands, writtenAnew, refused
    }

    /// Checks that a body reads the same as SwiftProtobuf's encoding of its decoded message, or of the message with U+FFFD in its
    /// texts. Returns how the intake read the body.
    private func compare(_ body: [UInt8], _ comment: Comment) throws -> Outcome {
        let isUsual = (try? Intake().metrics(reading: body)) != nil
        guard let message = Self.decoded(body) ?? Self.decoded(Self.repaired(body)) else {
            #expect(!isUsual, comment)
            #expect(throws: IntakeRejection.notProtobuf, comment) {
                try Intake().metrics(body, encoding: .identity)
            }
            return .refused
        }
        let expected = try Intake().metrics(reading: message.serializedBytes())
        #expect(try Intake().metrics(body, encoding: .identity) == expected, comment)
        return isUsual ? .readWhereItStands : .writtenAnew
    }

    private static func decoded(_ body: [UInt8]) -> OTLPExportMetricsServiceRequest? {
        try? OTLPExportMetricsServiceRequest(serializedBytes: body, options: .otlp)
    }

    private static func repaired(_ body: [UInt8]) -> [UInt8] {
        TextRepair.repaired(body, .protobuf, as: .metricsRequest, limit: .max) ?? body
    }

    private static func request(_ random: inout SeededGenerator) -> OTLPExportMetricsServiceRequest {
        var request = OTLPExportMetricsServiceRequest()
        request.resourceMetrics = (0..<Int.random(in: 1...2, using: &random)).map { _ in
            var part = OTLPResourceMetrics()
            part.resource.attributes = [OTLPKeyValue("service.name", "shop"), OTLPKeyValue("process.pid", 7)]
            part.schemaURL = "https://opentelemetry.io/schemas/1.29.0"
            part.scopeMetrics = (0..<Int.random(in: 0...2, using: &random)).map { _ in
                var scope = OTLPScopeMetrics()
                scope.scope.name = "instrument"
                scope.metrics = (0..<Int.random(in: 0...4, using: &random)).map { _ in metric(&random) }
                return scope
            }
            return part
        }
        return request
    }

    private static let names = [
        MetricName.clientDuration, MetricName.clientDuration, MetricName.clientRequestSize, MetricName.serverDuration,
        MetricName.serverResponseSize, MetricName.clientPhaseDuration, MetricName.ledger, "http.client.duration",
        "jvm.memory.used",
    ]

    private static func metric(_ random: inout SeededGenerator) -> OTLPMetric {
        var metric = OTLPMetric()
        metric.name = names.randomElement(using: &random) ?? ""
        metric.description_p = "é"
        metric.unit = ["s", "ms", "", "By"].randomElement(using: &random) ?? ""
        let temporality = [OTLPAggregationTemporality.delta, .delta, .cumulative, .unspecified].randomElement(
            using: &random)
        switch Int.random(in: 0..<8, using: &random) {
        case 0: metric.gauge.dataPoints = [OTLPNumberDataPoint()]
        case 1:
            metric.sum.dataPoints = [LedgerState.captured, LedgerState.waiting].map { state in
                .with {
                    $0.attributes = [OTLPKeyValue(AttributeName.ledgerState, state)]
                    $0.timeUnixNano = Samples.time(10)
                    $0.asInt = 3
                }
            }
        case 2...4:
            metric.histogram.aggregationTemporality = temporality ?? .delta
            metric.histogram.dataPoints = points(&random) { explicitPoint(&$0) }
        default:
            metric.exponentialHistogram.aggregationTemporality = temporality ?? .delta
            metric.exponentialHistogram.dataPoints = points(&random) { exponentialPoint(&$0) }
        }
        return metric
    }

    private static func points<Point>(
        _ random: inout SeededGenerator, _ make: (inout SeededGenerator) -> Point
    ) -> [Point] {
        (0..<Int.random(in: 0...5, using: &random)).map { _ in make(&random) }
    }

    private static func explicitPoint(_ random: inout SeededGenerator) -> OTLPHistogramDataPoint {
        var point = OTLPHistogramDataPoint()
        point.attributes = attributes(&random)
        (point.startTimeUnixNano, point.timeUnixNano) = (Samples.time(0), Samples.time(10))
        if Bool.random(using: &random) {
            point.explicitBounds = [0.1, 1, 10]
            point.bucketCounts = (0..<4).map { _ in UInt64.random(in: 0...200, using: &random) }
        }
        point.count =
            point.bucketCounts.isEmpty ? UInt64.random(in: 0...3, using: &random) : point.bucketCounts.reduce(0, +)
        if Int.random(in: 0..<5, using: &random) > 0 { point.sum = Double(point.count) / 3 }
        if Bool.random(using: &random) { (point.min, point.max) = (0.05, 12) }
        return point
    }

    private static func exponentialPoint(_ random: inout SeededGenerator) -> OTLPExponentialHistogramDataPoint {
        var point = OTLPExponentialHistogramDataPoint()
        point.attributes = attributes(&random)
        (point.startTimeUnixNano, point.timeUnixNano) = (Samples.time(0), Samples.time(10))
        point.scale = .random(in: -3...10, using: &random)
        point.zeroCount = .random(in: 0...1, using: &random)
        point.positive.offset = .random(in: -200...200, using: &random)
        point.positive.bucketCounts = (0..<Int.random(in: 0...60, using: &random)).map { _ in
            UInt64.random(in: 0...5, using: &random) * UInt64.random(in: 0...100, using: &random)
        }
        if Int.random(in: 0..<6, using: &random) == 0 { point.negative.bucketCounts = [1, 300] }
        point.count = point.positive.bucketCounts.reduce(point.zeroCount, +)
        if Int.random(in: 0..<5, using: &random) > 0 { point.sum = Double(point.count) / 3 }
        if Bool.random(using: &random) { (point.min, point.max) = (0.05, 12) }
        return point
    }

    private static func attributes(_ random: inout SeededGenerator) -> [OTLPKeyValue] {
        var attributes = [
            OTLPKeyValue(AttributeName.method, "GET"), OTLPKeyValue(AttributeName.serverPort, 443),
            OTLPKeyValue(AttributeName.urlTemplate, "/orders/{id}/\(Int.random(in: 0...9, using: &random))"),
        ]
        if Bool.random(using: &random) { attributes.append(OTLPKeyValue(AttributeName.phase, "dns")) }
        if Bool.random(using: &random) { attributes.append(OTLPKeyValue("é", "ü")) }
        var list = OTLPKeyValue("list", "")
        list.value.arrayValue.values = [.with { $0.intValue = -1 }, .with { $0.stringValue = "a" }]
        if Bool.random(using: &random) { attributes.append(list) }
        attributes.shuffle(using: &random)
        return attributes
    }
}

private struct ExpectedPoint {
    var figures: HistogramPoint.Figures
    var buckets: HistogramPoint.Buckets
    var attributes: [OTLPKeyValue]
}

extension OTLPMetric {
    fileprivate var temporality: OTLPAggregationTemporality {
        if case .histogram(let histogram)? = data { return histogram.aggregationTemporality }
        return exponentialHistogram.aggregationTemporality
    }

    fileprivate var points: [ExpectedPoint] {
        switch data {
        case .histogram(let histogram)?:
            histogram.dataPoints.map { point in
                ExpectedPoint(
                    figures: HistogramPoint.Figures(
                        start: point.startTimeUnixNano, end: point.timeUnixNano, count: point.count,
                        sum: point.hasSum ? point.sum : nil, min: point.hasMin ? point.min : nil,
                        max: point.hasMax ? point.max : nil),
                    buckets: .explicit(bounds: point.explicitBounds, counts: point.bucketCounts),
                    attributes: point.attributes)
            }
        case .exponentialHistogram(let histogram)?:
            histogram.dataPoints.map { point in
                ExpectedPoint(
                    figures: HistogramPoint.Figures(
                        start: point.startTimeUnixNano, end: point.timeUnixNano, count: point.count,
                        sum: point.hasSum ? point.sum : nil, min: point.hasMin ? point.min : nil,
                        max: point.hasMax ? point.max : nil),
                    buckets: .exponential(
                        scale: point.scale, zeroCount: point.zeroCount, offset: point.positive.offset,
                        counts: point.positive.bucketCounts, negative: point.negative.bucketCounts),
                    attributes: point.attributes)
            }
        default: []
        }
    }
}
