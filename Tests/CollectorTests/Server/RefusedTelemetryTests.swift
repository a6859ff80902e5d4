import Foundation
import HummingbirdTesting
import MartletOTLP
import MartletStorage
import MartletTelemetry
import SwiftProtobuf
import Testing

@testable import MartletReports

/// The list of agents shows which points and spans the collector refused, of whom and why.
@Suite struct RefusedTelemetryTests {
    private static let milliseconds = "the time is in milliseconds; send it in nanoseconds"
    private static let start = "2026-09-21T14:14:20Z"

    /// - Parameters:
    ///   - senders: their services and instances.
    ///   - unit: the unit of the points' times, in nanoseconds. Only times in nanoseconds are accepted.
    private static func metrics(
        _ senders: [(String, String)], points: Int = 1, unit: UInt64 = 1_000_000
    ) throws -> [UInt8] {
        var point = OtherMetrics.point([0.2, 0.3])
        (point.startTimeUnixNano, point.timeUnixNano) = (Samples.time(40) / unit, Samples.time(50) / unit)
        let metric = OtherMetrics.histogram(Array(repeating: point, count: points), .delta)
        var request = OTLPExportMetricsServiceRequest()
        request.resourceMetrics = senders.flatMap { service, instance in
            let resource = [OTLPKeyValue("service.name", service), OTLPKeyValue("service.instance.id", instance)]
            return OtherMetrics.request(scopes: [[metric]], resource: resource).resourceMetrics
        }
        return try request.serializedBytes()
    }

    /// Returns a body with a span without an id and one whose time is in milliseconds.
    private static func spans(_ service: String) throws -> [UInt8] {
        let batch = DetailsBatch(
            resource: Samples.resource(service), details: [Samples.detail(1), Samples.detail(2)])
        var request: OTLPExportTraceServiceRequest = try .init(serializedBytes: batch.otlp())
        request.resourceSpans[0].scopeSpans[0].spans[0].traceID = Data()
        request.resourceSpans[0].scopeSpans[0].spans[1].startTimeUnixNano = Samples.time(40) / 1_000_000
        request.resourceSpans[0].scopeSpans[0].spans[1].endTimeUnixNano = Samples.time(50) / 1_000_000
        return try request.serializedBytes()
    }

    private static func agents(_ client: any TestClientProtocol, _ query: String = "") async throws -> AgentsReport {
        let response = try await client.get("/api/v1/agents?\(query)")
        return try ReportJSON.value(of: AgentsReport.self, in: Data(buffer: response.body))
    }

    @Test func senderWhoseEveryPointIsRefusedIsListedWithTheReason() async throws {
        try await withServer(clock: { Samples.time(58) }) { client in
            _ = try await client.post(try Self.metrics([("shop", "i-1")], points: 3))
            let report = try await Self.agents(client)
            #expect(report.agents.map(\.service) == ["shop"])
            #expect(report.agents.first?.lastSeen == Self.start)
            #expect(
                report.agents.first?.refused
                    == .init(
                        points: 3, spans: 0, since: Self.start, latest: Self.start,
                        reasons: [.init(reason: Self.milliseconds, count: 3)]))
            let sentence =
                "3 points refused since the collector started at \(Self.start), the latest at \(Self.start): "
                + Self.milliseconds
            #expect(AgentsTable.text(of: report).hasSuffix("\nshop i-1: \(sentence)\n"))
            let page = try await client.read("/agents")
            #expect(page.text.contains("i-1 needs attention i-1 \(sentence)."), "\(page.text)")
            #expect(page.text.contains("3 points refused unknown"), "\(page.text)")
            #expect(try await Self.agents(client, "service=shop").agents.count == 1)
            #expect(try await Self.agents(client, "instance=i-2").agents.isEmpty)
        }
    }

    @Test func refusalsBelongToTheirSenderAmongOthers() async throws {
        try await withServer(clock: { Samples.time(58) }) { client in
            _ = try await client.post(try Self.metrics([("cart", "i-1"), ("shop", "i-1")], unit: 1))
            _ = try await client.post(try Self.metrics([("shop", "i-1"), ("pay", "i-1")]))
            let agents = try await Self.agents(client).agents
            #expect(Set(agents.map(\.service)) == ["cart", "shop", "pay"] && agents.count == 3)
            for agent in agents { #expect(agent.refused?.points == (agent.service == "cart" ? nil : 1)) }
            // The stored and the refused points are of one sender.
            #expect(agents.first { $0.service == "shop" }?.statistics == ["server": "metrics"])
        }
    }

    @Test func pointsAndSpansAreCountedByReason() async throws {
        try await withServer(clock: { Samples.time(58) }) { client in
            let spans: OTLPExportTraceServiceRequest = try .init(serializedBytes: Self.spans("shop"))
            var metrics: OTLPExportMetricsServiceRequest = try .init(serializedBytes: Self.metrics([("shop", "i-1")]))
            metrics.resourceMetrics[0].resource = spans.resourceSpans[0].resource
            _ = try await client.post(try metrics.serializedBytes())
            _ = try await client.post(try Self.spans("shop"), to: "/v1/traces")
            let refused = try #require(try await Self.agents(client).agents.first?.refused)
            #expect((refused.points, refused.spans) == (1, 2))
            #expect(
                refused.reasons == [
                    .init(reason: Self.milliseconds, count: 2), .init(reason: "the span has no valid ids", count: 1),
                ])
            let text = AgentsTable.text(of: try await Self.agents(client))
            #expect(
                text.contains(": 1 point and 2 spans refused since the collector started at ")
                    && text.contains("\(Self.milliseconds) (2); the span has no valid ids (1)\n"), "\(text)")
        }
    }

    @Test func latestThousandSendersAreRemembered() async throws {
        try await withServer(clock: { Samples.time(58) }) { client in
            let names = (0..<1_000).map { ("shop", "old-\($0)") }
            _ = try await client.post(try Self.metrics(names))
            #expect(try await Self.agents(client).agents.count == 1_000)
            let others = (0..<1_100).map { ("shop", "new-\($0)") }
            _ = try await client.post(try Self.metrics(others))
            let report = try await Self.agents(client)
            #expect(!report.agents.isEmpty && report.agents.count <= 1_000)
            #expect(report.more == nil)
        }
    }

    /// A sender chooses its names, and its resource may be refused because of them.
    @Test func namesOfARefusedSenderAreCutAndEscaped() async throws {
        let hostile = "<b>\u{1b}[2J\u{202e}"
        try await withServer(clock: { Samples.time(58) }) { client in
            _ = try await client.post(
                try Self.metrics([(hostile, hostile), (String(repeating: "x", count: 5_000), "i-1")]))
            let report = try await Self.agents(client)
            #expect(report.agents.map(\.service.utf8.count).max() == 1_024)
            let text = AgentsTable.text(of: report)
            #expect(text.unicodeScalars.allSatisfy { $0 == "\n" || TerminalText.isPlain($0) })
            let page = try await client.read("/agents")
            #expect(!page.shown.contains("<b>\u{1b}") && !page.shown.unicodeScalars.contains("\u{202e}"))
        }
    }

    @Test func countsSaturateAndThreeReasonsAreShown() {
        var refused = RefusedTelemetry(Samples.resource(), since: Samples.time(0))
        for second in 1...4 as ClosedRange<UInt64> {
            refused.add(["reason \(second)": .max], of: .metrics, at: Samples.time(second))
        }
        #expect(refused.points == .max)
        #expect(refused.reasons.map(\.text) == ["reason 4", "reason 3", "reason 2"])
        #expect((refused.first, refused.latest) == (Samples.time(1), Samples.time(4)))
    }
}
