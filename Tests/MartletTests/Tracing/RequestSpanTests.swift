import MartletTelemetry
import Testing
import Tracing

@testable import Martlet

extension AgentTests {
    /// Spans that are HTTP requests.
    @Suite struct RequestSpanTests {
        private let tracer = MartletTracer()

        private func counts(_ kind: SpanKind, _ attributes: SpanAttributes) async -> [String] {
            await recorded { span(kind, attributes) }.counts
        }

        @Test(arguments: [0.0, 1])
        func everyRequestIsCountedAtAnySampleRate(rate: Double) async {
            let found = await recorded({ $0.sampleRate = rate }) {
                for number in 0..<100 { tracer.request("/users/\(number)?secret=1") }
            }
            #expect(found.counts == ["client GET /users/{id} 200 - 100"])
            #expect(found.spans.count == (rate == 1 ? 100 : 0))
        }

        @Test func detailsOfFailedRequestsAreKeptAtAnyRate() async throws {
            let found = await recorded({ $0.sampleRate = 0 }) {
                tracer.request("/users/7", status: 503) { $0.attributes["peer"] = "x" }
                tracer.request("/users/7", status: 200)
            }
            #expect(found.spans.count == 1)
            let kept = try #require(found.spans.first)
            #expect(kept.name == "GET /users/{id}")
            #expect(kept.request?.status == 503)
            #expect(kept.isError)
            #expect(kept.attributes == ["peer": .string("x")])
            #expect(kept.url == "https://\(SpanFixture.host)/users/7")
        }

        @Test func earlierNamesOfTheConventionsAreUnderstood() async {
            #expect(
                await counts(
                    .client,
                    ["http.method": "POST", "http.url": "http://\(SpanFixture.host)/a?b=c", "http.status_code": 404])
                    == ["client POST /a 404 404 1"])
            #expect(
                await counts(
                    .client,
                    [
                        "http.method": "GET", "net.peer.name": .string(SpanFixture.host), "net.peer.port": 8080,
                        "http.target": "/orders/8?x=y", "http.status_code": 200,
                    ]) == ["client GET /orders/{id} 200 - 1"])
            #expect(
                await counts(
                    .server, ["http.method": "GET", "http.target": "/users/7?x=y", "http.status_code": 200])
                    == ["server GET {unmatched} 200 - 1"])
        }

        @Test func instrumentsTemplateNamesTheEndpoint() async {
            #expect(
                await counts(
                    .client,
                    [
                        "http.request.method": "GET", "url.full": "https://spans.example/shop/blue",
                        "url.template": "/shop/{color}", "http.response.status_code": 200,
                    ]) == ["client GET /shop/{color} 200 - 1"])
        }

        @Test func serverRequestsAreNamedByTheirRoute() async {
            let request: (Int, String?) -> SpanAttributes = { status, route in
                var attributes: SpanAttributes = ["http.request.method": "GET", "url.path": "/users/anna"]
                attributes["http.response.status_code"] = status
                attributes["http.route"] = route
                return attributes
            }
            #expect(await counts(.server, request(200, "/users/{name}")) == ["server GET /users/{name} 200 - 1"])
            #expect(await counts(.server, request(404, "/users/{name}")) == ["server GET /users/{name} 404 - 1"])
            #expect(await counts(.server, request(500, "/users/{name}")) == ["server GET /users/{name} 500 500 1"])
            #expect(await counts(.server, request(404, "NotFound")) == ["server GET {unmatched} 404 - 1"])
            for status in [200, 401, 404, 429, 503] {
                let error = status == 503 ? "503 1" : "- 1"
                #expect(
                    await counts(.server, request(status, nil)) == ["server GET {unmatched} \(status) \(error)"])
            }
        }

        @Test func templateOfTheUserNamesAServedRequestWithoutARoute() async {
            let found = await recorded({ $0.endpoints = ["/users/{name}"] }) {
                for path in ["/users/anna", "/admin.php"] {
                    span(
                        .server,
                        ["http.request.method": "GET", "url.path": .string(path), "http.response.status_code": 200])
                }
            }
            #expect(Set(found.counts) == ["server GET /users/{name} 200 - 1", "server GET {unmatched} 200 - 1"])
        }

        @Test func scanTakesNoNameFromOutgoingRequests() async {
            let found = await recorded({ $0.maxEndpoints = 10 }) {
                for number in 0..<1024 {
                    span(
                        .server,
                        [
                            "http.request.method": "GET", "url.path": .string("/\(number).php"),
                            "server.address": .string("scan-\(number).example"), "http.response.status_code": 401,
                        ])
                }
                tracer.request("/charge")
            }
            #expect(
                Set(found.counts) == ["server GET {unmatched} 401 - 1024", "client GET /charge 200 - 1"])
        }

        @Test func hostsOfIncomingRequestsAreFew() async {
            let found = await recorded {
                for number in 0..<100 {
                    span(
                        .server,
                        [
                            "http.request.method": "GET", "http.route": "/", "http.response.status_code": 200,
                            "server.address": .string("host-\(number).example"),
                        ])
                }
            }
            let hosts = found.requests.keys.map(\.host).filter { !$0.isEmpty }
            #expect(Set(hosts) == Set((0..<MartletLimits.servedHosts).map { "host-\($0).example" }))
            #expect(found.requests.values.reduce(0, +) == 100)
        }

        @Test(arguments: [SpanKind.client, .server])
        func claimedSizeThatNoBodyHasIsNotCounted(kind: SpanKind) async {
            let found = await recorded {
                for size in [Int64.max, 1 << 41, 5] {
                    span(
                        kind,
                        [
                            "http.request.method": "PUT", "url.full": "https://spans.example/a", "http.route": "/a",
                            "http.request.body.size": .int64(size), "http.response.body.size": .int64(size),
                        ])
                }
            }
            #expect(found.spans.map { [$0.bytesSent, $0.bytesReceived] } == [[0, 0], [0, 0], [5, 5]])
        }

        @Test func incomingBodyThatHadNoTimeToArriveIsNotCounted() async {
            let found = await recorded {
                span(
                    .server,
                    [
                        "http.request.method": "PUT", "http.route": "/a", "http.request.body.size": .int64(1 << 39),
                        "http.response.body.size": .int64(1 << 39),
                    ])
            }
            #expect(found.spans.map { [$0.bytesSent, $0.bytesReceived] } == [[1 << 39, 0]])
        }

        @Test func onlyTheServersOwnFailuresCountForAServer() async {
            let found = await recorded({ $0.sampleRate = 0 }) {
                for status in [404, 500] {
                    span(
                        .server,
                        [
                            "http.request.method": "GET", "http.route": "/a",
                            "http.response.status_code": .int(Int64(status)),
                        ],
                        error: Broken.badly)
                }
            }
            #expect(found.spans.map(\.request?.status) == [500])
        }

        @Test(
            arguments: [
                (["http.status_code": 404], nil, "404"), ([:], nil, "MartletTests.Broken"),
                (["http.status_code": 200], nil, nil),
                (["http.status_code": 200], SpanStatus(code: .error), "MartletTests.Broken"),
                (["error.type": "dns"], SpanStatus(code: .error), "dns"),
            ] as [(SpanAttributes, SpanStatus?, String?)])
        func clientErrorIsTheMostSpecificOneKnown(
            attributes: SpanAttributes, status: SpanStatus?, error: String?
        ) async {
            var all: SpanAttributes = ["http.request.method": "GET", "url.full": "https://spans.example/"]
            all.merge(attributes)
            let found = await recorded { span(.client, all, error: Broken.badly, status: status) }
            #expect(found.requests.keys.map(\.error) == [error])
        }

        /// Specification, "Tracing API", section "Set Status": `Ok` is final and suppresses errors such as 404s.
        @Test(arguments: [SpanKind.client, .server], [404, 503])
        func spanThatItsAuthorMarkedOKIsASuccess(kind: SpanKind, status: Int) async throws {
            let found = await recorded {
                span(
                    kind,
                    [
                        "http.request.method": "GET", "url.full": "https://spans.example/", "http.route": "/",
                        "http.response.status_code": .int(Int64(status)), "error.type": "missing",
                    ], error: Broken.badly, status: SpanStatus(code: .ok))
            }
            let request = try #require(found.requests.keys.first)
            #expect(request.error == nil)
            #expect(request.outcome.isFailure(for: request.kind) == false)
            let kept = try #require(found.spans.first)
            #expect(kept.isOK && !kept.isError)
            let shown =
                kept.request?.status
                ?? kept.attributes["http.response.status_code"].flatMap { value in
                    if case .integer(let number) = value { Int(number) } else { nil }
                }
            #expect(shown == status)
        }

        @Test func servedRequestHasItsSchemeAndItsVersionOfHTTP() async throws {
            let cases: [(SpanAttributes, Bool, HTTPVersion?)] = [
                (["url.scheme": "https", "network.protocol.version": "2"], true, .http2),
                (["http.scheme": "https", "http.flavor": "1.1"], true, .http11),
                (["url.scheme": "http", "server.port": 443], false, nil), (["server.port": 443], true, nil),
                (["url.full": "https://spans.example:8443/"], true, nil),
                (["network.protocol.version": "spdy"], false, nil),
            ]
            for (attributes, isSecure, version) in cases {
                var all: SpanAttributes = ["http.request.method": "GET", "http.route": "/a"]
                all.merge(attributes)
                let found = await recorded { span(.server, all) }
                let request = try #require(found.requests.keys.first)
                #expect(request.isSecure == isSecure && request.httpVersion == version, "\(attributes)")
                #expect(request.isRoute)
            }
            let found = await recorded { span(.server, ["http.request.method": "GET", "url.path": "/a"]) }
            #expect(found.requests.keys.allSatisfy { !$0.isRoute || $0.endpoint == RequestDimensions.unmatched })
        }

        @Test func errorOfAPrivateTypeHasTheSameNameInEveryProcess() async {
            let found = await recorded {
                span(
                    .client, ["http.request.method": "GET", "url.full": "https://spans.example/"], error: Hidden.Inner()
                )
            }
            #expect(found.requests.keys.map(\.error) == ["MartletTests.Hidden.Inner"])
        }

        /// The error texts are those of AsyncHTTPClient and NIO.
        @Test(arguments: [
            ("HTTPClientError.connectTimeout", "timeout"), ("HTTPClientError.deadlineExceeded", "timeout"),
            ("connection reset (error set): Connection refused) (errno: 111)", "connection_refused"),
            (
                "DNS error: SocketAddressError.UnknownHost: Name or service not known (error -2) for host x, port 80",
                "dns"
            ),
            ("read(descriptor:pointer:size:): Connection reset by peer) (errno: 104)", "connection_reset"),
            ("HTTPClientError.remoteConnectionClosed", "connection_reset"),
            ("handshakeFailed(NIOSSL.BoringSSLError.sslError([Error: 268435703]))", "tls"),
            ("HTTPClientError.redirectCycleDetected", "too_many_redirects"),
            ("HTTPClientError.unsupportedScheme(\"foo\")", "invalid_request"),
            ("HTTPClientError.cancelled", "cancelled"),
        ])
        func errorWithoutAResponseGetsOneOfFewTypes(said: String, type: String) async {
            let found = await recorded {
                span(
                    .client, ["http.request.method": "GET", "url.full": "https://spans.example/"],
                    error: Said(description: said))
            }
            #expect(found.requests.keys.map(\.error) == [type])
        }

        @Test func requestCancelledByItsCallerIsNotAFailure() async throws {
            let found = await recorded {
                span(
                    .client, ["http.request.method": "GET", "url.full": "https://spans.example/"],
                    error: CancellationError(), status: SpanStatus(code: .error))
            }
            #expect(found.counts == ["client GET / - cancelled 1"])
            #expect(try #require(found.spans.first).isError == false)
        }

        @Test func excludedRequestIsNeitherCountedNorKept() async {
            let found = await recorded({ $0.exclude = ["spans.example/health"] }) {
                tracer.request("/health")
                // This instrument sets no URL.
                span(
                    .client,
                    [
                        "http.request.method": "GET", "server.address": "Spans.example", "url.path": "/health",
                        "http.response.status_code": 200,
                    ])
                tracer.request("/a")
            }
            #expect(found.counts == ["client GET /a 200 - 1"])
            #expect(found.spans.count == 1)
        }

        @Test func sizesAreThoseOfTheBodies() async throws {
            let sizes: SpanAttributes = ["http.request.body.size": 3, "http.response.body.size": 5]
            let found = await recorded {
                for kind in [SpanKind.client, .server] {
                    var attributes: SpanAttributes = [
                        "http.request.method": "GET", "url.full": "https://spans.example/",
                    ]
                    attributes.merge(sizes)
                    span(kind, attributes)
                }
            }
            let sent = Dictionary(
                uniqueKeysWithValues: found.spans.map { ($0.kind, [$0.bytesSent, $0.bytesReceived]) })
            #expect(sent == [.client: [3, 5], .server: [5, 3]])
        }

        // MARK: - One request, one count

        @Test func innermostOfNestedClientSpansIsCounted() async throws {
            let found = await recorded {
                tracer.withSpan("outermost", ofKind: .client) { outermost in
                    outermost.attributes = [
                        "http.request.method": "GET", "url.full": "https://spans.example/outermost",
                    ]
                    tracer.withSpan("outer", ofKind: .client) { outer in
                        outer.attributes = ["http.request.method": "GET", "url.full": "https://spans.example/outer"]
                        tracer.withSpan("attempt") { _ in tracer.request("/inner", status: 503) }
                        tracer.withSpan("attempt") { _ in tracer.request("/inner") }
                    }
                }
            }
            #expect(found.counts == ["client GET /inner 200 - 1", "client GET /inner 503 503 1"])
            #expect(found.spans.count == 6)
            for name in ["outermost", "outer"] {
                let outer = try #require(found.span(name))
                #expect(outer.request == nil)
                #expect(outer.attributes["martlet.counted"] == .boolean(false))
                #expect(outer.attributes["http.request.method"] == .string("GET"))
            }
        }

        /// The span in between belongs to a library. Its kind is client, but it is not HTTP.
        @Test func spanAroundARequestIsNotCountedEvenWithAnotherSpanInBetween() async throws {
            let found = await recorded {
                tracer.withSpan("outer", ofKind: .client) { outer in
                    outer.attributes = ["http.request.method": "GET", "url.full": "https://spans.example/outer"]
                    tracer.withSpan("S3.GetObject", ofKind: .client) { call in
                        call.attributes = ["rpc.system": "aws-api"]
                        tracer.request("/inner")
                    }
                }
            }
            #expect(found.counts == ["client GET /inner 200 - 1"])
            #expect(found.spans.count == 3)
        }

        @Test func spanAroundARequestOfAnotherInstrumentIsNotCounted() async {
            let found = await recorded {
                tracer.withSpan("GET", ofKind: .client) { span in
                    span.attributes = ["http.request.method": "GET", "url.full": "https://spans.example/a"]
                    tracer.withSpan("attempt") { _ in ServiceContext.current?.requestSpan?.noteRequest(.client) }
                }
                tracer.request("/b")
            }
            #expect(found.counts == ["client GET /b 200 - 1"])
        }

        @Test func excludedRequestDoesNotTakeTheSpanAroundItOutOfTheCount() async {
            for change in [
                { $0.exclude = ["spans.example/inner"] }, { $0.ignore = { $0.path == "/inner" } },
            ] as [(inout MartletConfiguration) -> Void] {
                let found = await recorded(change) {
                    tracer.withSpan("outer", ofKind: .client) { outer in
                        outer.attributes = [
                            "http.request.method": "GET", "url.full": "https://spans.example/outer",
                            "http.response.status_code": 200,
                        ]
                        tracer.request("/inner")
                    }
                }
                #expect(found.counts == ["client GET /outer 200 - 1"])
            }
        }

        /// The text of an error about data may quote the data.
        @Test func wordInDataIsNoFailureOfTheNetwork() async {
            let context = DecodingError.Context(
                codingPath: [], debugDescription: "no certificate, Timeout or handshake")
            let found = await recorded {
                for error in [DecodingError.dataCorrupted(context) as any Error, Said(description: "no certificate")] {
                    span(
                        .client, ["http.request.method": "GET", "url.full": "https://spans.example/"], error: error)
                }
            }
            #expect(!found.requests.keys.contains { $0.error == "tls" || $0.error == "timeout" })
        }

        @Test func serverRequestAndTheRequestsThatItMakesAreAllCounted() async {
            let found = await recorded {
                tracer.withSpan("GET", ofKind: .server) { span in
                    span.attributes = ["http.request.method": "GET", "http.route": "/shop", "http.status_code": 200]
                    tracer.request("/a")
                    ServiceContext.current?.requestSpan?.noteRequest(.client)
                }
            }
            #expect(found.counts == ["client GET /a 200 - 1", "server GET /shop 200 - 1"])
        }

        @Test func requestThatFailedBeforeAnyOtherInstrumentSawItIsCounted() async {
            let found = await recorded {
                try? tracer.withSpan("GET", ofKind: .client) { span in
                    span.attributes = ["http.request.method": "GET", "url.full": "https://spans.example/a"]
                    throw Broken.badly
                }
            }
            #expect(found.counts == ["client GET /a - MartletTests.Broken 1"])
        }
    }
}

private enum Hidden {
    fileprivate struct Inner: Error {}
}

private struct Said: Error, CustomStringConvertible {
    let description: String
}
