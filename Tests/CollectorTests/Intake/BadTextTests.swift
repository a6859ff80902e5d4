import Foundation
import HummingbirdTesting
import MartletIntake
import MartletOTLP
import MartletTelemetry
import SwiftProtobuf
import Testing

/// Bodies with texts that are not UTF-8. A client of a service can choose such a byte, so it must not cost anything else.
@Suite struct BadTextTests {
    /// Bytes that are not UTF-8: a byte that no text has, characters that were cut, an overlong form, a surrogate.
    private static let texts: [[UInt8]] = [
        [0xff], [0xc3], [0xe2, 0x82], [0xf0, 0x9f, 0x98], [0xc0, 0x80], [0xed, 0xa0, 0xbd], [0x80, 0x41, 0xfe],
    ]

    private static let spanPlaces: [@Sendable (inout OTLPResourceSpans, String) -> Void] = [
        { $0.scopeSpans[0].spans[0].name = $1 }, { $0.scopeSpans[0].spans[0].traceState = $1 },
        { $0.scopeSpans[0].spans[0].status.message = $1 },
        { $0.scopeSpans[0].spans[0].attributes.append(OTLPKeyValue("text", $1)) },
        { $0.scopeSpans[0].spans[0].attributes.append(OTLPKeyValue($1, "text")) },
        { $0.scopeSpans[0].spans[0].attributes.append(nested($1)) },
        { $0.scopeSpans[0].spans[0].events[0].name = $1 },
        { $0.scopeSpans[0].spans[0].events[0].attributes.append(OTLPKeyValue("text", $1)) },
        { $0.scopeSpans[0].spans[0].links[0].traceState = $1 },
        { $0.scopeSpans[0].spans[0].links[0].attributes.append(nested($1)) },
        { $0.scopeSpans[0].schemaURL = $1 }, { $0.scopeSpans[0].scope.name = $1 },
        { $0.scopeSpans[0].scope.version = $1 }, { $0.schemaURL = $1 },
        { $0.resource.attributes.append(OTLPKeyValue("text", $1)) },
    ]

    private static let metricPlaces: [@Sendable (inout OTLPResourceMetrics, String) -> Void] = [
        { $0.scopeMetrics[0].metrics.append(gauge(named: $1)) },
        { $0.scopeMetrics[0].metrics.append(gauge(attributes: [OTLPKeyValue("text", $1)])) },
        { $0.scopeMetrics[0].metrics.append(gauge(attributes: [nested($1)])) },
        { $0.scopeMetrics[0].metrics[0].description_p = $1 },
        {
            $0.scopeMetrics[0].metrics[0].exponentialHistogram.dataPoints[0].attributes.append(OTLPKeyValue("text", $1))
        },
        { $0.scopeMetrics[0].scope.name = $1 }, { $0.scopeMetrics[0].schemaURL = $1 }, { $0.schemaURL = $1 },
        { $0.resource.attributes.append(OTLPKeyValue($1, "text")) },
    ]

    private static func nested(_ text: String) -> OTLPKeyValue {
        var attribute = OTLPKeyValue("nested", "")
        attribute.value.kvlistValue.values = [OTLPKeyValue("list", "")]
        attribute.value.kvlistValue.values[0].value.arrayValue.values = [.with { $0.stringValue = text }]
        return attribute
    }

    private static func gauge(named name: String = "queue", attributes: [OTLPKeyValue] = []) -> OTLPMetric {
        var gauge = OTLPMetric()
        gauge.name = name
        gauge.gauge.dataPoints = [.with { $0.attributes = attributes }]
        return gauge
    }

    /// Returns the body that `make` encodes with a valid text as long as the bad one, with the bad one in its place.
    private static func body(with text: [UInt8], _ make: (String) throws -> [UInt8]) throws -> [UInt8] {
        let placeholder = String(repeating: "#", count: text.count + 4)
        var body = try make(placeholder)
        let range = try #require(Data(body).range(of: Data(placeholder.utf8)))
        body.replaceSubrange(range, with: Array("<<".utf8) + text + Array(">>".utf8))
        return body
    }

    private static func spans(with text: [UInt8], at place: Int) throws -> [UInt8] {
        let batch = DetailsBatch(resource: Samples.resource(), details: [Samples.span(1), Samples.detail(2)])
        return try body(with: text) { placeholder in
            var request: OTLPExportTraceServiceRequest = try .init(serializedBytes: batch.otlp())
            spanPlaces[place](&request.resourceSpans[0], placeholder)
            return try request.serializedBytes()
        }
    }

    private static func metrics(with text: [UInt8], at place: Int) throws -> [UInt8] {
        try body(with: text) { placeholder in
            var request: OTLPExportMetricsServiceRequest = try .init(serializedBytes: Samples.body())
            metricPlaces[place](&request.resourceMetrics[0], placeholder)
            return try request.serializedBytes()
        }
    }

    @Test(arguments: spanPlaces.indices) func badTextCostsNoSpan(place: Int) throws {
        for text in Self.texts {
            let taken = try Intake().details(try Self.spans(with: text, at: place), encoding: .identity)
            let details = try #require(taken.values.first?.details)
            #expect(details.count == 2 && taken.refusals.total == 0)
            #expect(details.last == Samples.detail(2))
            if place == 0 { #expect(details[0].name == "<<" + String(decoding: text, as: UTF8.self) + ">>") }
        }
    }

    @Test(arguments: metricPlaces.indices) func badTextCostsNoRequest(place: Int) throws {
        for text in Self.texts {
            let taken = try Intake().metrics(try Self.metrics(with: text, at: place), encoding: .identity)
            #expect(taken.values.map(\.requests) == [5])
            #expect(taken.refusals.total == 0)
        }
    }

    @Test func badTextInADimensionIsShownWithReplacementCharacters() throws {
        let body = try Self.body(with: [0xe2, 0x82]) { try Samples.body(endpoint: $0) }
        let taken = try Intake().metrics(body, encoding: .identity)
        #expect(taken.values.first?.points.first?.dimensions.endpoint == "<<\u{FFFD}>>")
    }

    @Test func serverTakesABodyWithABadText() async throws {
        let (metrics, spans) = (try Self.metrics(with: [0xff], at: 0), try Self.spans(with: [0xff], at: 0))
        try await withServer { client in
            for (body, path) in [(metrics, "/v1/metrics"), (spans, "/v1/traces")] {
                let answer = try await client.post(body, to: path)
                #expect(answer.status == .ok)
            }
            #expect(try await client.count() == 5)
        }
    }

    /// The copy has more bytes than the body, so a body close to the limit may not be repaired.
    @Test func repairedBodyIsWithinTheLimit() throws {
        let body = try Self.metrics(with: Array(repeating: 0xff, count: 5000), at: 0)
        var limits = IntakeLimits()
        limits.maxBodyBytes = body.count
        let rejection = #expect(throws: IntakeRejection.self) {
            try Intake(limits: limits).metrics(body, encoding: .identity)
        }
        #expect(rejection?.status == 400)
    }
}
