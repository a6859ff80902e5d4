import Foundation
import MartletIntake
import MartletOTLP
import MartletStorage
import MartletTelemetry
import SwiftProtobuf
import Testing

@Suite struct IntakeDetailsTests {
    private func take(
        fromAnotherSDK: Bool = false, _ change: (inout OTLPSpan) -> Void = { _ in }
    ) throws -> IntakeResult<DetailsBatch> {
        let batch = DetailsBatch(resource: Samples.resource(), details: [Samples.detail(1), Samples.detail(2)])
        var request: OTLPExportTraceServiceRequest = try .init(serializedBytes: batch.otlp())
        if fromAnotherSDK {
            request.resourceSpans[0].resource.attributes.removeAll { $0.key == "telemetry.sdk.name" }
        }
        change(&request.resourceSpans[0].scopeSpans[0].spans[0])
        return try Intake().details(try request.serializedBytes(), encoding: .identity)
    }

    @Test func agentBatchArrivesUnchanged() throws {
        let taken = try take()
        #expect(taken.refusals.total == 0)
        #expect(
            taken.values == [
                DetailsBatch(resource: Samples.resource(), details: [Samples.detail(1), Samples.detail(2)])
            ])
    }

    @Test func everyFieldOfASpanArrives() throws {
        let batch = DetailsBatch(resource: Samples.resource(), details: [Samples.span(1), Samples.detail(2)])
        let taken = try Intake().details(try batch.otlp(), encoding: .identity)
        #expect(taken.values == [batch])
    }

    @Test func spansOtherThanRequestsAreKeptAsSpans() throws {
        for change in [
            { $0.kind = .internal }, { $0.attributes.removeAll { $0.key == "http.request.method" } },
            { $0.attributes.append(attribute("martlet.counted") { $0.boolValue = false }) },
        ] as [(inout OTLPSpan) -> Void] {
            let taken = try take(change)
            #expect(taken.refusals.total == 0)
            let span = try #require(taken.values.first?.details.first)
            #expect(span.request == nil)
            #expect(span.attributes["http.response.status_code"] == .integer(503))
            #expect(taken.values.first?.details.last == Samples.detail(2))
        }
    }

    /// Specification, "Tracing API", section "Set Status": tools should suppress errors of a span that is `Ok`.
    @Test(arguments: [404, 503]) func spanThatItsAuthorMarkedOKIsASuccess(status: Int64) throws {
        let taken = try take(fromAnotherSDK: true) { span in
            span.kind = .client
            span.attributes = [
                OTLPKeyValue("http.request.method", "GET"), OTLPKeyValue("url.template", "/users/{id}"),
                OTLPKeyValue("http.response.status_code", status), OTLPKeyValue("error.type", "\(status)"),
            ]
            span.status = .with { $0.code = .ok }
        }
        let span = try #require(taken.values.first?.details.first)
        #expect(span.request?.error == nil && span.request?.status == nil && !span.isError)
        #expect(span.attributes["http.response.status_code"] == .integer(status))
    }

    /// Sends a span with the attributes of an instrument older than the stable conventions.
    @Test func requestsOfOtherSDKsAreRequests() throws {
        let taken = try take(fromAnotherSDK: true) { span in
            span.kind = .server
            span.name = "GET /users/<id>"
            span.attributes = [
                OTLPKeyValue("http.method", "GET"), OTLPKeyValue("http.url", "http://shop.example:81/users/7?q=secret"),
                OTLPKeyValue("http.route", "/users/<id>"), OTLPKeyValue("http.status_code", Int64(200)),
                OTLPKeyValue("http.user_agent", "curl"),
            ]
        }
        let span = try #require(taken.values.first?.details.first)
        #expect(
            span.request
                == RequestDimensions(
                    kind: .server, method: "GET", host: "shop.example", port: 81, endpoint: "/users/<id>", status: 200,
                    error: nil))
        #expect(span.url == "http://shop.example:81/users/7")
        #expect(span.name == "GET /users/<id>")
        #expect(span.attributes == ["http.user_agent": .string("curl")])
    }

    @Test func oldInstrumentsFailedRequestIsAFailureAndItsServerMayHaveAPort() throws {
        let taken = try take(fromAnotherSDK: true) { span in
            span.kind = .client
            span.status.code = .error
            span.attributes = [
                OTLPKeyValue("http.method", "GET"), OTLPKeyValue("net.peer.name", "shop.example:81"),
            ]
        }
        let request = try #require(taken.values.first?.details.first?.request)
        #expect(request.outcome == .transportFailure)
        #expect(request.authority == "shop.example:81")
        let withZero = try take { span in
            (span.kind, span.status.code) = (.client, .error)
            span.attributes = [OTLPKeyValue("http.method", "GET"), OTLPKeyValue("http.status_code", Int64(0))]
        }
        #expect(withZero.values.first?.details.first?.request?.outcome == .transportFailure)
    }

    @Test(
        arguments: [
            ([("server.address", "a.example"), ("url.full", "https://a.example/x")], 443),
            ([("server.address", "a.example"), ("url.full", "HTTP://a.example/x")], 80),
            ([("server.address", "a.example"), ("url.full", "https://a.example:8443/x")], 8443),
            ([("server.address", "a.example:81"), ("url.full", "https://a.example/x")], 81),
            ([("server.address", "a.example"), ("server.port", "82"), ("url.full", "https://a.example/x")], 82),
            ([("server.address", "a.example"), ("url.scheme", "https"), ("url.path", "/x")], 443),
            ([("server.address", "a.example"), ("http.url", "/x"), ("http.scheme", "http")], 80),
            ([("net.peer.name", "a.example"), ("http.url", "https://a.example/x")], 443),
            ([("url.full", "https://a.example/x")], 443), ([("server.address", "a.example")], 0),
            ([("server.address", "a.example"), ("server.port", "-1"), ("url.full", "https://a.example:8443/x")], 8443),
            ([("server.address", "a.example"), ("server.port", "0"), ("url.scheme", "http")], 80),
            ([("http.host", "a.example"), ("http.scheme", "http")], 80), ([("http.host", "a.example:81")], 81),
            ([("url.scheme", "https")], 0), ([("server.address", "a.example"), ("url.full", "ftp://a.example/x")], 0),
        ] as [([(String, String)], Int)])
    func schemeGivesThePortThatIsLeftOut(attributes: [(String, String)], port: Int) throws {
        let taken = try take(fromAnotherSDK: true) { span in
            span.kind = .client
            span.attributes = [OTLPKeyValue("http.request.method", "GET")] + attributes.map { OTLPKeyValue($0, $1) }
        }
        let request = try #require(taken.values.first?.details.first?.request)
        #expect(request.port == port)
        #expect(request.host == "a.example" || attributes.map(\.0) == ["url.scheme"])
    }

    /// A server's caller chooses the header.
    @Test func headerNamesNoServerOfAServerSpan() throws {
        let taken = try take(fromAnotherSDK: true) { span in
            span.kind = .server
            span.attributes = [OTLPKeyValue("http.method", "GET"), OTLPKeyValue("http.host", "a.example")]
        }
        #expect(taken.values.first?.details.first?.request?.host == "")
    }

    @Test func spanWithoutAStartHasNoDuration() throws {
        let taken = try take { $0.startTimeUnixNano = 0 }
        let span = try #require(taken.values.first?.details.first)
        #expect(span.durationNanoseconds == 0)
        #expect(span.start == Samples.time(1) + 250_000_000)
    }

    @Test(arguments: [
        ("https://Shop.Example/basket", "shop.example:443"), ("http://[2001:DB8::1]:8080/basket", "[2001:db8::1]:8080"),
    ])
    func hostFromTheAddressIsLowercased(url: String, authority: String) throws {
        let taken = try take(fromAnotherSDK: true) { span in
            span.kind = .client
            span.attributes = [
                OTLPKeyValue("http.method", "GET"), OTLPKeyValue("http.url", url),
            ]
        }
        #expect(try #require(taken.values.first?.details.first?.request).authority == authority)
    }

    @Test(
        arguments: [(.client, 404, "404"), (.server, 404, nil), (.server, 500, "500")]
            as [(OTLPSpan.SpanKind, Int64, String?)])
    func unnamedFailureIsNamedByItsStatus(kind: OTLPSpan.SpanKind, status: Int64, error: String?) throws {
        let taken = try take(fromAnotherSDK: true) { span in
            span.kind = kind
            span.attributes = [OTLPKeyValue("http.method", "GET"), OTLPKeyValue("http.status_code", status)]
        }
        #expect(try #require(taken.values.first?.details.first?.request).error == error)
    }

    @Test func spanPartsOverTheLimitsAreCutAndCounted() throws {
        var limits = IntakeLimits()
        (limits.maxSpanAttributes, limits.maxSpanEvents, limits.maxSpanLinks) = (4, 2, 1)
        (limits.maxAttributeElements, limits.maxTextBytes, limits.maxAttributeBytes) = (3, 10, 20)
        var span = Samples.span(1)
        span.request = nil
        (span.url, span.bytesSent, span.bytesReceived) = ("", 0, 0)
        span.name = String(repeating: "n", count: 30)
        span.attributes = ["list": .array(Array(repeating: .integer(1), count: 9)), "text": .string("0123456789abc")]
        span.attributes[String(repeating: "k", count: 21)] = .integer(1)
        span.events = (0..<5).map { SpanEvent(name: "\($0)", time: 1) }
        span.links = Array(repeating: try #require(span.links.first), count: 3)
        span.links[0].attributes = Dictionary(uniqueKeysWithValues: (0..<6).map { ("\($0)", .integer($0)) })
        let batch = DetailsBatch(resource: TelemetryResource(service: "s", instance: "i"), details: [span])
        let taken = try Intake(limits: limits).details(try batch.otlp(), encoding: .identity)
        #expect(taken.refusals.total == 0)
        let kept = try #require(taken.values.first?.details.first)
        #expect(kept.name == String(repeating: "n", count: 20))
        #expect(kept.attributes["list"] == .array(Array(repeating: .integer(1), count: 3)))
        #expect(kept.attributes["text"] == .string("0123456789"))
        #expect(kept.attributes.count == 2)
        #expect(kept.links[0].attributes.count == 4)
        #expect(kept.droppedAttributes == span.droppedAttributes + 3)
        #expect(kept.events.map(\.name) == ["0", "1"])
        #expect(kept.droppedEvents == span.droppedEvents + 3)
        #expect(kept.droppedLinks == span.droppedLinks + 2)
    }

    @Test func totalAttributesOfASpanAreLimited() throws {
        var limits = IntakeLimits()
        limits.maxSpanBytes = 100
        var span = Samples.detail(1)
        span.attributes = Dictionary(uniqueKeysWithValues: (10..<40).map { ("key\($0)", .string("12345")) })
        let batch = DetailsBatch(resource: Samples.resource(), details: [span])
        let kept = try #require(
            Intake(limits: limits).details(try batch.otlp(), encoding: .identity).values.first?.details.first)
        #expect(kept.attributes.count == 10)
        #expect(kept.droppedAttributes == 20)
    }

    @Test func valuesOutsideTheConventionsAreLeftOutAndCounted() throws {
        let taken = try take { span in
            span.attributes += [
                attribute("map") { $0.kvlistValue = .init() }, attribute("bytes") { $0.bytesValue = Data([1]) },
                attribute("nothing") { _ in },
                attribute("lists") { list in
                    var inner = OTLPAnyValue()
                    inner.arrayValue = .init()
                    list.arrayValue.values = [inner]
                },
            ]
        }
        let span = try #require(taken.values.first?.details.first)
        #expect(span.attributes == [:])
        #expect(span.droppedAttributes == 4)
    }

    @Test func secretsInAttributesAreNotKept() throws {
        let taken = try take { span in
            span.kind = .internal
            span.attributes += [
                OTLPKeyValue("url.query", "secret"), OTLPKeyValue("http.target", "/x?secret"),
                OTLPKeyValue("http.request.header.authorization", "secret"),
                OTLPKeyValue("http.response.header.Set-Cookie", "secret"),
                OTLPKeyValue("http.request.header.ocp_apim_subscription_key", "secret"),
            ]
        }
        let attributes = try #require(taken.values.first?.details.first).attributes
        #expect(!String(describing: attributes).contains("secret"))
        #expect(attributes["http.target"] == .string("/x"))
        #expect(attributes["http.request.header.authorization"] == .string("REDACTED"))
    }

    private func attribute(_ name: String, _ set: (inout OTLPAnyValue) -> Void) -> OTLPKeyValue {
        var attribute = OTLPKeyValue()
        attribute.key = name
        set(&attribute.value)
        return attribute
    }

    @Test func impossibleSpansAreRefused() throws {
        let damages: [(inout OTLPSpan) -> Void] = [
            { $0.traceID = Data([1]) }, { $0.traceID = Data(count: 16) }, { $0.spanID = Data() },
            { $0.parentSpanID = Data([1, 2]) }, { $0.endTimeUnixNano = $0.startTimeUnixNano - 1 },
        ]
        for damage in damages {
            let taken = try take(damage)
            #expect(taken.refusals.total == 1)
            #expect(taken.values.flatMap(\.details) == [Samples.detail(2)])
        }
    }

    @Test(arguments: [
        ("https://user:secret@a.example/x/y?token=secret#secret", "https://a.example/x/y"),
        ("https://u@:secret@a.example", "https://a.example"), ("/x?secret", "/x"),
        ("https://a.example/x@y", "https://a.example/x@y"),
    ])
    func credentialsAndQueriesAreNotKept(url: String, kept: String) throws {
        let taken = try take(fromAnotherSDK: true) { span in
            span.attributes.removeAll { $0.key == "url.full" }
            span.attributes.append(OTLPKeyValue("url.full", url))
        }
        #expect(taken.values[0].details[0].url == kept)
    }

    @Test func redactedURLOfAMartletAgentIsKept() throws {
        let url = "https://a.example/x?page=REDACTED"
        let taken = try take { span in
            span.attributes.removeAll { $0.key == "url.full" }
            span.attributes.append(OTLPKeyValue("url.full", url))
        }
        #expect(taken.values[0].details[0].url == url)
    }

    @Test func configuredBodiesAreKeptWithTheOtherAttributes() throws {
        var limits = IntakeLimits()
        (limits.maxSpanBytes, limits.maxBodyTextBytes) = (20, 10_000)
        var span = Samples.detail(1)
        span.attributes = [
            AttributeName.requestBody: .string(String(repeating: "x", count: 9_000)),
            AttributeName.responseBody: .string(String(repeating: "y", count: 11_000)), "key": .string("value"),
        ]
        let batch = DetailsBatch(resource: Samples.resource(), details: [span])
        let kept = try #require(
            Intake(limits: limits).details(try batch.otlp(), encoding: .identity).values.first?.details.first)
        span.attributes[AttributeName.responseBody] = .string(String(repeating: "y", count: 10_000))
        #expect(kept == span)
    }

    @Test func longTextIsCutBetweenCharacters() throws {
        let taken = try take { $0.status.message = String(repeating: "é", count: 3000) + "…" }
        #expect(taken.values[0].details[0].message == String(repeating: "é", count: 2048))
    }
}
