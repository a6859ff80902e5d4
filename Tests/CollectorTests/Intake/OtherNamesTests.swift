import MartletIntake
import MartletOTLP
import MartletStorage
import MartletTelemetry
import SwiftProtobuf
import Testing

/// The names of metrics and attributes from before the stable conventions.
@Suite struct OtherNamesTests {
    private func take(_ scopes: [[OTLPMetric]], resource: [OTLPKeyValue] = []) throws -> IntakeResult<InstanceMetrics> {
        let request = OtherMetrics.request(scopes: scopes, resource: resource)
        return try Intake().metrics(try request.serializedBytes(), encoding: .identity)
    }

    private func dimensions(_ name: String, _ attributes: [OTLPKeyValue]) throws -> RequestDimensions {
        let point = OtherMetrics.point([20], bounds: [10, 50], attributes: attributes)
        let taken = try take([[OtherMetrics.histogram([point], name: name, unit: "ms", .delta)]])
        return try #require(taken.values.first?.points.first).dimensions
    }

    @Test func durationsAreMillisecondsByUnitOrOldName() throws {
        for (name, unit, seconds) in [
            ("http.server.duration", "ms", 0.02), ("http.server.duration", "", 0.02), ("http.server.duration", "s", 20),
            ("http.server.request.duration", "", 20), ("http.server.request.duration", "ms", 0.02),
            ("http.server.request.duration", "us", 0.00002),
        ] {
            let point = OtherMetrics.point([20, 20], bounds: [10, 50])
            let taken = try take([[OtherMetrics.histogram([point], name: name, unit: unit, .delta)]])
            let duration = try #require(taken.values.first?.points.first).statistics.duration
            #expect(abs(duration.sum - 2 * seconds) < 1e-9)
            #expect(abs(try #require(duration.quantile(0.5)) / seconds - 1) < 0.003, "\(name) \(unit)")
        }
        let odd = try take([[OtherMetrics.histogram([OtherMetrics.point([1])], unit: "fortnight", .delta)]])
        #expect(odd.refusals.message.contains("unit"))
    }

    @Test func scopesThatDifferOnlyInSchemaCountEachRequestOnce() throws {
        let point = OtherMetrics.point([20, 20], bounds: [10, 50])
        var request = OtherMetrics.request(scopes: [
            [OtherMetrics.histogram([point], name: "http.server.duration", unit: "ms", .delta)],
            [OtherMetrics.histogram([point], unit: "ms", .delta)],
        ])
        for index in 0..<2 {
            request.resourceMetrics[0].scopeMetrics[index].scope.name = "instrument"
            request.resourceMetrics[0].scopeMetrics[index].schemaURL = "https://opentelemetry.io/schemas/1.\(index)"
        }
        let taken = try Intake().metrics(try request.serializedBytes(), encoding: .identity)
        #expect(taken.values.first?.points.map(\.statistics.requests) == [2])
    }

    @Test(arguments: ["\u{b5}s", "\u{3bc}s", "us"]) func microsecondsHaveThreeNames(unit: String) throws {
        let point = OtherMetrics.point([2000], bounds: [10, 5000])
        let taken = try take([[OtherMetrics.histogram([point], unit: unit, .delta)]])
        #expect(taken.values.first?.points.map(\.statistics.duration.sum) == [0.002])
    }

    @Test func statusMayBeATextOrAFloatingPointNumber() throws {
        for status in [
            OTLPKeyValue("http.response.status_code", "500"),
            .with {
                $0.key = "http.response.status_code"; $0.value.doubleValue = 500
            },
        ] {
            let method = OTLPKeyValue("http.request.method", "GET")
            #expect(try dimensions("http.server.request.duration", [method, status]).status == 500)
        }
        let odd = OTLPKeyValue("http.response.status_code", "five hundred")
        #expect(try dimensions("http.server.request.duration", [odd]).status == nil)
    }

    @Test func sizesSentAsSumsAreIgnored() throws {
        var metric = OTLPMetric()
        metric.name = "http.server.request.size"
        metric.sum.dataPoints = [.with { $0.asInt = 512 }]
        let taken = try take([[metric]])
        #expect(taken.refusals.message == "")
    }

    @Test func deltaThatEndsBeforeItStartsCoversOnlyItsEnd() throws {
        let point = OtherMetrics.point([0.2], start: 20, end: 10)
        let taken = try take([[OtherMetrics.histogram([point], .delta)]])
        let counted = try #require(taken.values.first?.points.first)
        #expect((counted.start, counted.end) == (Samples.time(10), Samples.time(10)))
        #expect(taken.refusals.message == "")
    }

    @Test func exponentialHistogramInMillisecondsBecomesSeconds() throws {
        var milliseconds = ExponentialHistogram()
        for value in 1...1000 { milliseconds.record(Double(value)) }
        var point = OTLPExponentialHistogramDataPoint(milliseconds)
        (point.startTimeUnixNano, point.timeUnixNano) = (Samples.time(0), Samples.time(10))
        var metric = OTLPMetric()
        (metric.name, metric.unit) = ("http.client.duration", "ms")
        metric.exponentialHistogram.aggregationTemporality = .delta
        metric.exponentialHistogram.dataPoints = [point]
        let duration = try #require(try take([[metric]]).values.first?.points.first).statistics.duration
        #expect(duration.count == 1000)
        #expect(duration.max == 1)
        for q in [0.1, 0.5, 0.99] { #expect(abs(try #require(duration.quantile(q)) / q - 1) < 0.0056) }
    }

    @Test func oldClientAttributesAreRead() throws {
        let server = [
            OTLPKeyValue("http.method", "GET"), OTLPKeyValue("net.peer.name", "api.example"),
            OTLPKeyValue("net.peer.port", Int64(8080)), OTLPKeyValue("http.scheme", "http"),
        ]
        let answered = try dimensions("http.client.duration", server + [OTLPKeyValue("http.status_code", Int64(404))])
        #expect(
            answered
                == RequestDimensions(
                    kind: .client, method: "GET", host: "api.example", port: 8080, endpoint: "{unknown}", status: 404,
                    error: "404"))
        let failed = try dimensions("http.client.duration", server)
        #expect(failed.outcome == .transportFailure)
    }

    @Test(arguments: ["server.address", "net.peer.name", "http.host"])
    func hostIsLowercased(attribute: String) throws {
        let host = try dimensions("http.client.duration", [OTLPKeyValue(attribute, "Shop.Example:8443")])
        #expect((host.host, host.port) == ("shop.example", 8443))
    }

    @Test(
        arguments: [
            ("https", nil, 443), ("http", nil, 80), ("HTTPS", nil, 443), ("https", 8443, 8443), ("http", 443, 443),
            ("gopher", nil, 0), (nil, nil, 0), ("https", -1, 443), ("http", 0, 80), ("http", 65536, 80), (nil, -1, 0),
        ] as [(String?, Int64?, Int)])
    func schemeGivesThePortThatIsLeftOut(scheme: String?, port: Int64?, found: Int) throws {
        let rest = [port.map { OTLPKeyValue("server.port", $0) }, scheme.map { OTLPKeyValue("url.scheme", $0) }]
        let attributes = [OTLPKeyValue("http.request.method", "GET"), OTLPKeyValue("server.address", "a.example")]
        for kind in ["client", "server"] {
            let dimensions = try dimensions("http.\(kind).request.duration", attributes + rest.compactMap(\.self))
            #expect((dimensions.host, dimensions.port) == ("a.example", found))
        }
        #expect(try dimensions("http.client.request.duration", [OTLPKeyValue("url.scheme", "https")]).port == 0)
    }

    @Test func oldServerAttributesAreRead() throws {
        let request = [
            OTLPKeyValue("http.method", "POST"), OTLPKeyValue("http.status_code", Int64(500)),
            OTLPKeyValue("http.target", "/orders/{id}?secret"), OTLPKeyValue("http.scheme", "https"),
        ]
        let named = try dimensions("http.server.duration", request + [OTLPKeyValue("net.host.name", "shop.example")])
        #expect(
            named
                == RequestDimensions(
                    kind: .server, method: "POST", host: "shop.example", port: 443, endpoint: "/orders/{id}",
                    status: 500, error: "500"))
        let routed = try dimensions("http.server.duration", request + [OTLPKeyValue("http.route", "/r")])
        #expect(routed.endpoint == "/r")
        let unanswered = try dimensions("http.server.duration", [OTLPKeyValue("http.method", "POST")])
        #expect(unanswered.error == nil)
    }

    @Test(
        arguments: [
            ("http.server.duration", 503, nil, "503"), ("http.server.duration", 404, nil, nil),
            ("http.client.duration", 404, nil, "404"), ("http.client.duration", 302, nil, nil),
            ("http.server.duration", 500, "TypeError", "TypeError"), ("http.server.duration", 404, "absent", "absent"),
        ] as [(String, Int, String?, String?)])
    func unnamedFailureIsNamedByItsStatus(name: String, status: Int, error: String?, found: String?) throws {
        var attributes = [
            OTLPKeyValue("http.method", "GET"), OTLPKeyValue("http.status_code", Int64(status)),
        ]
        if let error { attributes.append(OTLPKeyValue("error.type", error)) }
        #expect(try dimensions(name, attributes).error == found)
    }

    @Test(arguments: [
        ("shop.example:81", "shop.example", 81), ("shop.example", "shop.example", 80), ("[::1]:81", "::1", 81),
        ("[::1]", "::1", 80), ("::1", "::1", 80), (":", ":", 80), ("a:", "a", 80), ("[", "[", 80), ("a:b", "a", 80),
        ("a:99999", "a", 80), ("]", "]", 80),
    ])
    func hostHeaderNamesTheServer(header: String, host: String, port: Int) throws {
        let found = try dimensions(
            "http.server.duration", [OTLPKeyValue("http.host", header), OTLPKeyValue("http.scheme", "http")])
        #expect(found.host == host)
        #expect(found.port == port)
    }

    @Test func oldAndStableNamesOfOneInstrumentCountTheSameRequests() throws {
        let old = OtherMetrics.histogram(
            [OtherMetrics.point([20, 30])], name: "http.server.duration", unit: "ms", .delta)
        let stable = OtherMetrics.histogram([OtherMetrics.point([0.02, 0.03])], .delta)
        let both = try take([[old, stable]])
        #expect(both.values.map(\.requests) == [2])
        #expect(both.ignored == 1)
        #expect(try take([[stable, old]]).values.map(\.requests) == [2])
        #expect(
            try take([[old], [stable]]).values.map(\.requests) == [4], "two instruments have separate requests")
    }

    @Test func sizesUnderOldNamesAreRead() throws {
        let size = OtherMetrics.point([10, 20], bounds: [])
        let metrics = ["http.client.request.size", "http.client.response.size"].map { name in
            OtherMetrics.histogram([size], name: name, unit: "By", .delta)
        }
        let statistics = try take([metrics]).values.flatMap(\.points).map(\.statistics)
        #expect(statistics.reduce(0) { $0 + $1.bytesSent } == 30)
        #expect(statistics.reduce(0) { $0 + $1.bytesReceived } == 30)
    }

    @Test(
        arguments: [
            ([("service.instance.id", "i"), ("container.id", "c")], "i"), ([("container.id", "c")], "c"),
            ([("k8s.pod.uid", "p"), ("container.id", "c")], "p"), ([], ""),
        ] as [([(String, String)], String)])
    func processAttributeNamesTheInstance(attributes: [(String, String)], instance: String) throws {
        let metric = OtherMetrics.histogram([OtherMetrics.point([1])], .delta)
        let taken = try take([[metric]], resource: attributes.map { OTLPKeyValue($0.0, $0.1) })
        #expect(taken.values.map(\.resource.instance) == [instance])
        #expect(taken.values.map(\.resource.service) == ["unknown_service"])
    }
}
