import MartletTelemetry
import Testing
import Tracing

@testable import Martlet

extension AgentTests {
    /// Secrets are removed from the texts of spans.
    @Suite struct SpanRedactionTests {
        private let tracer = MartletTracer()

        @Test func noSecretOfAnAttributeIsKept() async throws {
            let found = await recorded {
                let attributes: SpanAttributes = [
                    "http.request.method": "GET", "url.full": "https://ada:secret@spans.example/a?token=secret#secret",
                    "url.query": "token=secret", "url.fragment": "secret",
                    "http.request.header.authorization": "Bearer secret",
                    "http.request.header.set_cookie": .stringArray(["secret"]),
                    "http.request.header.accept": "text/plain",
                    "http.response.header.location": "/b?secret",
                ]
                span(.client, attributes)
                // A span around another request and a span that is no request have these attributes too.
                tracer.withSpan("outer", ofKind: .client) { outer in
                    outer.attributes = attributes
                    tracer.request("/inner")
                }
                span(.internal, attributes)
            }
            #expect(found.spans.count == 4)
            #expect(!String(describing: found.spans).contains("secret"))
            #expect(found.spans[0].attributes["http.request.header.accept"] == .string("text/plain"))
            #expect(found.spans[0].attributes["http.response.header.location"] == .string("/b"))
            #expect(found.spans[0].attributes["http.request.header.authorization"] == .string("REDACTED"))
        }

        @Test func noSecretIsKeptAnywhereInAURL() async throws {
            let attributes: SpanAttributes = [
                "url.full": "https://spans.example/cart;jsessionid=secret", "url.path": "/cart;secret/x",
                "url.original": "https://proxy/http://ada:secret@spans.example/",
                "http.url": .stringArray(["https://spans.example/a", "https://it's:secret@spans.example/"]),
                "http.target": "/cart;sid=secret?secret",
            ]
            let found = await recorded {
                tracer.withSpan("outer", ofKind: .client) { outer in
                    outer.attributes = attributes
                    outer.attributes["http.request.method"] = "GET"
                    tracer.request("/inner")
                }
                tracer.withSpan("other") { other in
                    other.attributes = attributes
                    other.addEvent(SpanEvent(name: "event", attributes: attributes))
                    other.addLink(SpanLink(context: other.context, attributes: attributes))
                }
            }
            #expect(found.spans.count == 3)
            #expect(!String(describing: found.spans).contains("secret"))
            let other = try #require(found.span("other"))
            #expect(other.attributes["url.full"] == .string("https://spans.example/cart;jsessionid=REDACTED"))
            #expect(other.events.map(\.attributes) == [other.attributes])
            #expect(other.links.map(\.attributes) == [other.attributes])
        }

        /// A limit may cut a secret in two, so that the rest no longer looks like one.
        @Test func noPartOfASecretIsKeptIfALimitCutsIt() async throws {
            let before = { String(repeating: "x", count: $0 - 20) + " https://" }
            let secret = String(repeating: "secret", count: 4) + "@host/"
            let message = before(MartletLimits.messageLength) + secret
            let long = before(MartletLimits.attributeText) + secret
            let found = await recorded {
                span(.internal, [:], error: Said(description: message), status: SpanStatus(code: .error))
                span(.internal, [:], status: SpanStatus(code: .error, message: message))
                span(
                    .internal,
                    [
                        "exception.message": .string(message), "exception.stacktrace": .string(long),
                        "http.request.header.x-next": .stringArray([long]),
                    ])
            }
            #expect(found.spans.map { $0.message?.utf8.count ?? 0 > 500 } == [true, true, false])
            #expect(found.spans[0].events.map(\.name) == ["exception"])
            #expect(found.spans[2].attributes.count == 3)
            #expect(!String(describing: found.spans).contains("secr"))
        }

        @Test func errorsTextIsKeptWithoutItsSecrets() async throws {
            let found = await recorded {
                let span = tracer.startSpan("span")
                span.recordError(
                    Said(description: "token=secret"),
                    attributes: ["exception.stacktrace": "at a\npassword: secret\nat b"])
                span.end()
            }
            let event = try #require(found.spans.first?.events.first)
            #expect(event.attributes["exception.message"] == .string("token=REDACTED"))
            #expect(event.attributes["exception.stacktrace"] == .string("at a\npassword: REDACTED\nat b"))
        }
    }
}

private struct Said: Error, CustomStringConvertible {
    let description: String
}
