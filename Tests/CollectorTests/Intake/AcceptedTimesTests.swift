import HummingbirdTesting
import MartletIntake
import MartletOTLP
import MartletServer
import MartletStorage
import MartletTelemetry
import SwiftProtobuf
import Testing

/// Points and spans that ended at an impossible time.
@Suite struct AcceptedTimesTests {
    private typealias Interval = (start: UnixNanoseconds, end: UnixNanoseconds)

    private static let now = Samples.time(60)
    private static let hour: UnixNanoseconds = 3_600_000_000_000
    private static let age = 400 * 24 * hour

    private static let intake: Intake = {
        var intake = Intake()
        intake.times = { AcceptedTimes(at: now, upToAge: age) }
        return intake
    }()

    private static let refused: [(interval: Interval, reason: String)] = [
        ((now / 1_000_000 - 10_000, now / 1_000_000), "the time is in milliseconds"),
        ((now / 1_000 - 10_000_000, now / 1_000), "the time is in microseconds"),
        ((now / 1_000_000_000 - 10, now / 1_000_000_000), "the time is in seconds"),
        ((now / 1_000_000, now), "the time is in milliseconds"),
        ((now - hour, now + hour + 1), "more than an hour ahead"),
        ((now + 10 * age, now + 10 * age), "more than an hour ahead"),
        ((now - 2 * age, now - age - 1), "before everything that --retention keeps"),
        ((1, 2), "before everything that --retention keeps"),
    ]

    private static let accepted: [Interval] = [
        (now - hour, now), (now, now + hour), (now - age, now - age), (now - 2 * age, now - age), (0, now),
    ]

    private static func metrics(
        _ interval: Interval, _ temporality: OTLPAggregationTemporality
    ) throws -> IntakeResult<InstanceMetrics> {
        var point = OtherMetrics.point([0.2, 0.3])
        (point.startTimeUnixNano, point.timeUnixNano) = interval
        let request = OtherMetrics.request(scopes: [[OtherMetrics.histogram([point], temporality)]])
        return try intake.metrics(try request.serializedBytes(), encoding: .identity)
    }

    private static func spans(_ interval: Interval) throws -> IntakeResult<DetailsBatch> {
        let batch = DetailsBatch(resource: Samples.resource(), details: [Samples.detail(1)])
        var request: OTLPExportTraceServiceRequest = try .init(serializedBytes: batch.otlp())
        request.resourceSpans[0].scopeSpans[0].spans[0].startTimeUnixNano = interval.start
        request.resourceSpans[0].scopeSpans[0].spans[0].endTimeUnixNano = interval.end
        return try intake.details(try request.serializedBytes(), encoding: .identity)
    }

    /// Returns the body of an agent, with points of requests and a ledger.
    private static func agentBody(_ interval: Interval) throws -> [UInt8] {
        try MetricsBatch(
            resource: Samples.resource(), start: interval.start, end: interval.end,
            series: [Samples.dimensions(): Samples.statistics([0.1])], ledger: Ledger(captured: 1, waiting: 1)
        ).otlp()
    }

    @Test(arguments: refused.indices) func impossibleTimeIsRefusedByName(index: Int) throws {
        let (interval, reason) = Self.refused[index]
        for temporality in [.delta, .cumulative] as [OTLPAggregationTemporality] {
            let taken = try Self.metrics(interval, temporality)
            #expect(taken.values.isEmpty && taken.refusals.total == 1)
            #expect(taken.refusals.message.contains(reason), "\(taken.refusals.message)")
        }
        let taken = try Self.spans(interval)
        #expect(taken.values.isEmpty && taken.refusals.total == 1)
        #expect(taken.refusals.message.contains(reason), "\(taken.refusals.message)")
    }

    @Test(arguments: accepted.indices) func possibleTimeIsTaken(index: Int) throws {
        for temporality in [.delta, .cumulative] as [OTLPAggregationTemporality] {
            #expect(try Self.metrics(Self.accepted[index], temporality).refusals.total == 0)
        }
        #expect(try Self.spans(Self.accepted[index]).refusals.total == 0)
    }

    @Test func ledgerAndProcessOfAnImpossibleTimeAreRefused() throws {
        let years = Self.now + 10 * Self.age
        let body = try Self.agentBody((years - 10_000_000_000, years))
        #expect(try Self.intake.metrics(body, encoding: .identity).values.isEmpty)
        var memory = OTLPMetric()
        (memory.name, memory.unit) = ("process.memory.usage", "By")
        memory.gauge.dataPoints = [.with { ($0.asInt, $0.timeUnixNano) = (1_000_000, years) }]
        let request = OtherMetrics.request(scopes: [[memory]])
        let taken = try Self.intake.metrics(try request.serializedBytes(), encoding: .identity)
        #expect(taken.values.isEmpty)
        #expect(
            taken.refusals.message
                == "1 rejected: the time is more than an hour ahead of the collector; set the sender's clock")
    }

    @Test func senderAndOperatorLearnWhyATimeWasRefused() async throws {
        let milliseconds = try Self.agentBody((Self.now / 1_000_000 - 10_000, Self.now / 1_000_000))
        let tomorrow = try Self.agentBody((Self.now, Self.now + 24 * Self.hour))
        try await withServer { client in
            let answer = try await client.post(milliseconds, batch: "i-1/1/metrics")
            #expect(answer.status == .ok)
            #expect(
                answer.headers.first { $0.name.canonicalName == BatchID.rejectedHeaderName.lowercased() }?.value == "1")
            let success = try OTLPExportMetricsServiceResponse(serializedBytes: [UInt8](buffer: answer.body))
            #expect(success.partialSuccess.errorMessage.contains("the time is in milliseconds; send it in nanoseconds"))
            #expect(try await client.post(tomorrow, batch: "i-1/2/metrics").status == .ok)
            let rejected = try await client.page().lines.filter {
                $0.hasPrefix("martlet_collector_rejected_points_total{")
            }
            #expect(
                rejected.contains { $0.contains("milliseconds") } && rejected.contains { $0.contains("an hour ahead") })
        }
    }

    /// While the collector's clock is not believed, its age of a point means nothing.
    @Test func everyTimeIsTakenWhileTheClockIsNotBelieved() async throws {
        let clock = Clock()
        clock.time = Self.now
        let body = try Self.agentBody((Self.now - Self.hour, Self.now - Self.hour / 2))
        let jump: @Sendable (CollectorServer) async -> Void = { server in
            try? await server.storage.maintain()
            clock.time += 2 * Self.age
            try? await server.storage.maintain()
        }
        try await withServer(clock: { clock.time }, now: { clock.time }, prepare: jump) { client in
            let answer = try await client.post(body)
            #expect(answer.body.readableBytes == 0)
        }
    }
}
