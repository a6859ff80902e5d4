import MartletTelemetry
import Testing
import Tracing

@testable import Martlet

extension AgentTests {
    /// Values above a limit are left out and counted.
    @Suite struct SpanLimitTests {
        private let tracer = MartletTracer()

        private static let tooMany = (0..<MartletLimits.attributes + 7).reduce(into: SpanAttributes()) {
            $0["key\($1)"] = $1
        }

        private func kept(_ body: (MartletSpan) -> Void) async throws -> SpanRecord {
            let found = await recorded { tracer.withSpan("span") { body($0) } }
            return try #require(found.span("span"))
        }

        @Test func attributesAboveTheLimitAreDroppedAndExistingOnesMayChange() async throws {
            let span = try await kept { span in
                for number in 0..<MartletLimits.attributes + 7 { span.attributes["key\(number)"] = number }
                span.attributes["key0"] = -1
            }
            #expect(span.attributes.count == MartletLimits.attributes)
            #expect(span.droppedAttributes == 7)
            #expect(span.attributes["key0"] == .integer(-1))
        }

        @Test func eventsAndLinksAboveTheLimitAreDropped() async throws {
            let span = try await kept { span in
                for number in 0..<MartletLimits.spanEvents + 3 { span.addEvent(SpanEvent(name: "\(number)")) }
                for _ in 0..<MartletLimits.spanLinks + 5 {
                    span.addLink(SpanLink(context: span.context, attributes: [:]))
                }
            }
            #expect(span.events.count == MartletLimits.spanEvents)
            #expect(span.droppedEvents == 3)
            #expect(span.links.count == MartletLimits.spanLinks)
            #expect(span.droppedLinks == 5)
        }

        @Test func eventAttributesAboveTheLimitAreDropped() async throws {
            let span = try await kept { span in
                for name in ["first", "second"] { span.addEvent(SpanEvent(name: name, attributes: Self.tooMany)) }
            }
            #expect(span.events.map(\.attributes.count) == [MartletLimits.attributes, MartletLimits.attributes])
            #expect(span.droppedAttributes == 2 * 7)
        }

        @Test func linkAttributesAboveTheLimitAreDropped() async throws {
            let span = try await kept { span in
                for _ in 0..<2 { span.addLink(SpanLink(context: span.context, attributes: Self.tooMany)) }
            }
            #expect(span.links.map(\.attributes.count) == [MartletLimits.attributes, MartletLimits.attributes])
            #expect(span.droppedAttributes == 2 * 7)
        }

        @Test func longTextIsCutAndALongNameIsDropped() async throws {
            let long = String(repeating: "é", count: 20_000)
            let span = try await kept { span in
                span.attributes["text"] = long
                span.attributes["list"] = Array(repeating: 1, count: 1000)
                span.attributes[long] = 1
                span.addEvent(SpanEvent(name: long))
            }
            #expect(span.attributes.count == 2)
            #expect(span.attributes["text"] == .string(String(repeating: "é", count: MartletLimits.attributeText / 2)))
            #expect(
                span.attributes["list"] == .array(Array(repeating: .integer(1), count: MartletLimits.attributeElements))
            )
            #expect(span.droppedAttributes == 1)
            #expect(span.events.map(\.name.utf8.count) == [MartletLimits.spanName])
        }

        @Test func allAttributesOfASpanTogetherAreLimited() async throws {
            let text = String(repeating: "x", count: MartletLimits.attributeText)
            let span = try await kept { span in
                for number in 0..<100 { span.attributes["key\(number)"] = text }
            }
            let bytes = span.attributes.keys.reduce(0) { $0 + $1.utf8.count + MartletLimits.attributeText }
            #expect(bytes <= MartletLimits.spanBytes)
            #expect(span.attributes.count + Int(span.droppedAttributes) == 100)
            #expect(span.droppedAttributes > 0)
        }

        @Test func spansAboveTheIntervalsLimitAreDroppedAndCounted() async {
            let found = await recorded {
                for _ in 0..<MartletLimits.sampledDetails + 10 { tracer.withSpan("span") { _ in } }
                #expect(CaptureSwitch.recorder?.droppedDetails == 10)
            }
            #expect(found.spans.count == MartletLimits.sampledDetails)
        }
    }
}
