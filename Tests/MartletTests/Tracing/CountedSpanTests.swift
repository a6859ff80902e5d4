import MartletTelemetry
import Testing
import Tracing

@testable import Martlet

extension AgentTests {
    /// Spans while the agent only counts, because of its cost.
    @Suite struct CountedSpanTests {
        private let tracer = MartletTracer()

        private func counted(_ body: () -> Void) async -> SpanFixture {
            await recorded {
                CaptureSwitch.recorder?.allow(.countsOnly)
                body()
            }
        }

        @Test func requestsAreCountedAndNoDetailsAreKept() async {
            let found = await counted {
                for number in 0..<100 { tracer.request("/users/\(number)") }
                span(
                    .server, ["http.request.method": "GET", "http.route": "/orders", "http.response.status_code": 503])
                span(.internal, [:])
            }
            #expect(
                found.counts == ["client GET /users/{id} 200 - 100", "server GET /orders 503 503 1"])
            #expect(found.spans == [])
        }

        @Test func requestWithinTheSpanOfARequestIsCountedOnce() async {
            let found = await counted {
                let outer = tracer.startSpan("outer", ofKind: .client)
                outer.attributes["http.request.method"] = "GET"
                outer.attributes["url.full"] = "https://\(SpanFixture.host)/users/7"
                tracer.request(within: outer.context)
                outer.end()
            }
            #expect(found.counts == ["client GET /users/{id} 200 - 1"])
        }

        @Test func callersTracePassesThroughAndNoNewOneBegins() async {
            let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
            var (headers, own) = ([String: String](), [String: String]())
            _ = await counted {
                var context = ServiceContext.topLevel
                tracer.extract(["traceparent": parent], into: &context, using: Headers())
                let server = tracer.startSpan("GET", context: context, ofKind: .server)
                let work = tracer.startSpan("work", context: server.context)
                tracer.inject(work.context, into: &headers, using: Headers())
                let root = tracer.startSpan("GET", context: .topLevel, ofKind: .server)
                tracer.inject(root.context, into: &own, using: Headers())
                for span in [work, server, root] { span.end() }
            }
            #expect(headers == ["traceparent": parent])
            #expect(own == [:])
        }

        @Test func spanStartedOnlyForCountingIsNotKeptWhenDetailsResume() async {
            let found = await recorded {
                CaptureSwitch.recorder?.allow(.countsOnly)
                let span = tracer.startSpan("GET", ofKind: .client)
                CaptureSwitch.recorder?.allow(.everything)
                span.attributes["http.request.method"] = "GET"
                span.attributes["url.full"] = "https://\(SpanFixture.host)/users/7"
                span.attributes["http.status_code"] = 503
                span.end()
            }
            #expect(found.counts == ["client GET /users/{id} 503 503 1"])
            #expect(found.spans == [])
        }
    }
}
