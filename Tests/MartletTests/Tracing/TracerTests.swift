import MartletTelemetry
import Testing
import Tracing

@testable import Martlet

extension AgentTests {
    /// Spans and their position in a trace.
    @Suite struct TracerTests {
        private let tracer = MartletTracer()
        private let parent = [
            "traceparent": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "tracestate": "a=1",
        ]

        private func extracted(_ headers: [String: String]) -> ServiceContext {
            var context = ServiceContext.topLevel
            tracer.extract(headers, into: &context, using: Headers())
            return context
        }

        private func injected(_ context: ServiceContext) -> [String: String] {
            var headers: [String: String] = [:]
            tracer.inject(context, into: &headers, using: Headers())
            return headers
        }

        @Test func activeSpanOfAContextIsItsRunningSpan() async throws {
            let found = await recorded {
                let span = tracer.startSpan("work")
                let inner = tracer.startSpan("inner", context: span.context)
                let active = tracer.activeSpan(identifiedBy: inner.context)
                active?.attributes["found"] = true
                #expect(active?.operationName == "inner")
                inner.end()
                #expect(tracer.activeSpan(identifiedBy: inner.context) == nil)
                #expect(tracer.activeSpan(identifiedBy: span.context)?.operationName == "work")
                span.end()
                #expect(tracer.activeSpan(identifiedBy: extracted(parent)) == nil)
                #expect(tracer.activeSpan(identifiedBy: .topLevel) == nil)
            }
            #expect(try #require(found.span("inner")).attributes == ["found": .boolean(true)])
        }

        @Test func spanIsKeptWithEverythingSetOnIt() async throws {
            let found = await recorded {
                let other = tracer.startSpan("other")
                let span = tracer.startSpan("work", ofKind: .producer)
                span.operationName = "harder work"
                span.attributes["text"] = "x"
                span.attributes["number"] = 7
                span.attributes["share"] = 0.5
                span.attributes["yes"] = true
                span.attributes["list"] = ["a", "b"]
                span.addEvent(SpanEvent(name: "half", attributes: ["done": 1]))
                span.addLink(other, attributes: ["why": "because"])
                span.recordError(Broken.badly)
                span.setStatus(.init(code: .error, message: "no"))
                span.end()
            }
            let span = try #require(found.span("harder work"))
            #expect(span.kind == .producer)
            #expect(span.parentSpanID == nil)
            #expect(
                span.attributes == [
                    "text": .string("x"), "number": .integer(7), "share": .double(0.5), "yes": .boolean(true),
                    "list": .array([.string("a"), .string("b")]),
                ])
            #expect(span.events.map(\.name) == ["half", "exception"])
            #expect(span.events[0].attributes == ["done": .integer(1)])
            #expect(
                span.events[1].attributes == [
                    "exception.type": .string("MartletTests.Broken"), "exception.message": .string("badly"),
                ])
            #expect(span.links.map(\.attributes) == [["why": .string("because")]])
            #expect(span.isError)
            #expect(span.message == "no")
            #expect(found.requests.isEmpty)
        }

        @Test func runningSpanIsTheParentOfSpansWithinIt() async throws {
            let found = await recorded {
                await tracer.withSpan("outer", context: extracted(parent), ofKind: .server) { _ in
                    await tracer.withSpan("middle") { _ in
                        await Task.yield()
                        tracer.withSpan("inner", ofKind: .client) { _ in }
                    }
                }
            }
            let (outer, middle, inner) = (found.span("outer"), found.span("middle"), found.span("inner"))
            #expect(outer?.parentSpanID?.description == "00f067aa0ba902b7")
            #expect(middle?.parentSpanID == outer?.spanID)
            #expect(inner?.parentSpanID == middle?.spanID)
            #expect(Set(found.spans.map(\.traceID.description)) == ["4bf92f3577b34da6a3ce929d0e0e4736"])
            #expect(Set(found.spans.map(\.spanID)).count == 3)
            #expect(found.spans.allSatisfy { $0.traceState == "a=1" })
        }

        @Test func injectedHeadersHaveTheSpansContextAndTheCallersState() async {
            _ = await recorded {
                let span = tracer.startSpan("call", context: extracted(parent), ofKind: .client)
                let headers = injected(span.context)
                let id = span.context.traceContext?.spanID.description ?? ""
                #expect(headers["traceparent"] == "00-4bf92f3577b34da6a3ce929d0e0e4736-\(id)-01")
                #expect(headers["tracestate"] == "a=1")
                #expect(id != "00f067aa0ba902b7")
            }
            #expect(injected(.topLevel).isEmpty)
        }

        @Test(arguments: [["traceparent": "00-nonsense", "tracestate": "a=1"], ["tracestate": "a=1"], [:]])
        func invalidHeadersChangeNothing(headers: [String: String]) {
            #expect(extracted(headers).traceContext == nil)
        }

        @Test func invalidTraceStateDoesNotInvalidateTheParent() {
            let context = extracted(parent.merging(["tracestate": "a=1,a=2"]) { $1 }).traceContext
            #expect(context?.spanID.description == "00f067aa0ba902b7")
            #expect(context?.traceState == "")
        }

        @Test(arguments: [true, false])
        func parentsSamplingDecisionHoldsAtAnyRate(isSampled: Bool) async {
            let header = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0\(isSampled ? 1 : 0)"
            let found = await recorded({ $0.sampleRate = isSampled ? 0 : 1 }) {
                tracer.withSpan("child", context: extracted(["traceparent": header])) { _ in }
            }
            #expect(found.spans.count == (isSampled ? 1 : 0))
        }

        @Test(arguments: [true, false])
        func callersFlagDecidesNothingUnderASamplerThatIsNotParentBased(isSampled: Bool) async {
            let header = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0\(isSampled ? 0 : 1)"
            let found = await recorded({ ($0.sampleRate, $0.ignoresCallersFlag) = (isSampled ? 1 : 0, true) }) {
                tracer.withSpan("child", context: extracted(["traceparent": header])) { span in
                    let sent = injected(span.context)["traceparent"]
                    #expect(sent?.hasPrefix("00-4bf92f3577b34da6a3ce929d0e0e4736-") == true)
                    #expect(sent?.hasSuffix(isSampled ? "-01" : "-00") == true)
                }
            }
            #expect(found.spans.count == (isSampled ? 1 : 0))
        }

        /// The public may choose the flag and the trace id.
        @Test func callerThatIsNotTrustedDecidesNothing() async {
            let header = "00-4bf92f3577b34da6ffffffffffffffff-00f067aa0ba902b7-01"
            func kept(_ trusts: Bool) async -> Int {
                await recorded({ ($0.sampleRate, $0.trustCallers) = (0.5, trusts) }) {
                    for _ in 0..<200 {
                        tracer.withSpan("served", context: extracted(["traceparent": header])) { span in
                            #expect(
                                span.context.traceContext?.traceID.description == "4bf92f3577b34da6ffffffffffffffff")
                            tracer.withSpan("child") { child in
                                let isSampled = child.context.traceContext?.isSampled
                                #expect(isSampled == span.context.traceContext?.isSampled)
                            }
                        }
                    }
                }.spans.count
            }
            let (trusted, own) = (await kept(true), await kept(false))
            #expect(trusted == 400)
            #expect((100...300).contains(own) && own % 2 == 0)
        }

        @Test func onlyNamedTargetsGetTraceHeaders() async {
            _ = await recorded({ $0.propagateTo = ["*.internal", "partner.example:8443"] }) {
                let cases: [(SpanAttributes, Bool)] = [
                    (["url.full": "https://a.internal/x"], true), (["url.full": "https://a.internal.example/x"], false),
                    (["server.address": "A.internal", "server.port": 50051], true),
                    (["server.address": "partner.example", "server.port": 8443], true),
                    (["url.full": "https://partner.example/"], false), ([:], false),
                ]
                for (attributes, isSent) in cases {
                    let span = tracer.startSpan("call", context: extracted(parent), ofKind: .client)
                    span.attributes = attributes
                    #expect(injected(span.context).isEmpty == !isSent, "\(attributes)")
                    span.end()
                }
                #expect(injected(extracted(parent)).isEmpty)
            }
        }

        @Test func unsampledTraceHasOneDecisionAndNoSpans() async {
            let found = await recorded({ $0.sampleRate = 0 }) {
                tracer.withSpan("root") { root in
                    #expect(!root.isRecording)
                    let trace = root.context.traceContext
                    #expect(trace?.isSampled == false)
                    tracer.withSpan("child") { #expect($0.context.traceContext == trace) }
                    tracer.withSpan("call", ofKind: .client) { call in
                        #expect(call.isRecording)
                        #expect(call.context.traceContext?.traceID == trace?.traceID)
                        #expect(injected(call.context)["traceparent"]?.hasSuffix("-00") == true)
                    }
                }
            }
            #expect(found.spans.isEmpty)
        }

        @Test func withoutAnAgentNothingIsRecordedButTheContextPassesThrough() {
            let span = tracer.startSpan("work", context: extracted(parent), ofKind: .client)
            span.attributes["http.request.method"] = "GET"
            #expect(!span.isRecording)
            #expect(span.attributes.isEmpty)
            #expect(injected(span.context) == parent)
            span.end()
        }

        @Test func nothingIsRecordedWhileCaptureIsOffAndTheContextPassesThrough() async {
            let found = await recorded {
                CaptureSwitch.isOn.store(false, ordering: .relaxed)
                let span = tracer.startSpan("GET", context: extracted(parent), ofKind: .client)
                #expect(injected(span.context) == parent)
                span.end()
                CaptureSwitch.isOn.store(true, ordering: .relaxed)
                tracer.request("/a") { _ in CaptureSwitch.isOn.store(false, ordering: .relaxed) }
                CaptureSwitch.isOn.store(true, ordering: .relaxed)
            }
            #expect(found.requests.isEmpty && found.spans.isEmpty)
        }

        @Test func onlyTheFirstEndOfASpanCounts() async throws {
            let found = await recorded {
                tracer.request("/a") { span in
                    span.attributes["http.status_code"] = 204
                    span.end()
                    span.operationName = "late"
                    span.attributes["late"] = true
                    #expect(!span.isRecording)
                }
            }
            #expect(found.counts == ["client GET /a 204 - 1"])
            #expect(found.spans.map(\.name) == ["GET /a"])
            #expect(found.spans.first?.attributes == [:])
        }

        @Test func spanThatNeverEndsIsReleasedWithItsContext() async {
            await withKnownRecorder {
                weak var recording: SpanRecording?
                do {
                    let span = tracer.startSpan("GET", ofKind: .client)
                    recording = span.recording
                    #expect(recording != nil)
                }
                #expect(recording == nil)
            }
        }

        @Test func consecutiveSpansDoNotKeepEachOtherAlive() async {
            await withKnownRecorder {
                weak var first: SpanRecording?
                var context = ServiceContext.topLevel
                for number in 0..<3 {
                    let span = tracer.startSpan("GET", context: context, ofKind: .client)
                    if number == 0 { first = span.recording }
                    span.end()
                    context = span.context
                }
                #expect(first == nil)
            }
        }

        private func withKnownRecorder(_ body: () -> Void) async { _ = await recorded { body() } }

        @Test func spanUsesTheGivenTimes() async throws {
            let start = Instant(nanosecondsSinceEpoch: 1_000_000_000_000_000_000)
            let end = Instant(nanosecondsSinceEpoch: 1_000_000_002_000_000_000)
            let found = await recorded {
                tracer.startSpan("then", at: start).end(at: end)
                tracer.startSpan("backwards", at: end).end(at: start)
            }
            let span = try #require(found.span("then"))
            #expect(span.start == start.nanosecondsSinceEpoch)
            // The time between the two clock readings is in neither figure.
            #expect(abs(Double(span.durationNanoseconds) - 2e9) < 1e9)
            #expect(found.span("backwards")?.durationNanoseconds == 0)
        }

        @Test func spansFromManyThreadsAreAllCounted() async {
            let found = await recorded({ $0.sampleRate = 0 }) {
                await withTaskGroup(of: Void.self) { group in
                    for _ in 0..<8 {
                        group.addTask { for _ in 0..<500 { tracer.request("/users/7") } }
                    }
                }
            }
            #expect(found.counts == ["client GET /users/{id} 200 - 4000"])
        }

        @Test func replacedAttributeMayCallItsSpanWhenItIsReleased() async throws {
            let found = await recorded {
                let span = tracer.startSpan("work")
                span.attributes.set("value", value: .stringConvertible(Farewell(to: span)))
                span.attributes["value"] = 1
                span.end()
            }
            let span = try #require(found.span("work"))
            #expect(span.attributes == ["farewell": .boolean(true)])
        }

        @Test func manyThreadsMayChangeOneSpan() async throws {
            let found = await recorded {
                let span = tracer.startSpan("shared")
                await withTaskGroup(of: Void.self) { group in
                    for number in 0..<100 {
                        group.addTask {
                            span.addEvent(SpanEvent(name: "\(number)"))
                            span.attributes["number"] = number
                        }
                    }
                }
                span.end()
            }
            #expect(Set(try #require(found.span("shared")).events.map(\.name)).count == 100)
        }
    }
}

/// A value that changes its span when the value is released.
private final class Farewell: CustomStringConvertible, Sendable {
    private let span: MartletSpan

    init(to span: MartletSpan) { self.span = span }

    var description: String { "farewell" }

    deinit { span.attributes = ["farewell": true] }
}

enum Broken: Error {
    case badly
}

private struct Instant: TracerInstant {
    let nanosecondsSinceEpoch: UInt64

    static func < (one: Instant, other: Instant) -> Bool { one.nanosecondsSinceEpoch < other.nanosecondsSinceEpoch }
}
