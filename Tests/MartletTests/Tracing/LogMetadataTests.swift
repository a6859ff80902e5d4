import InMemoryLogging
import Logging
import ServiceContextModule
import Testing
import Tracing

@testable import Martlet

extension AgentTests {
    /// The ids of the current span in a service's log.
    @Suite struct LogMetadataTests {
        private let handler = InMemoryLogHandler()

        private func logger(_ provider: Logger.MetadataProvider?) -> Logger {
            var handler = handler
            handler.metadataProvider = provider
            return Logger(label: "service", factory: { [handler] _ in handler })
        }

        @Test(arguments: [(rate: 1, flags: "01"), (0, "00")] as [(rate: Double, flags: String)])
        func logLinesWithinASpanHaveTheIDsThatItsCalleesGet(sampling: (rate: Double, flags: String)) async throws {
            let logger = logger(.martlet)
            var headers: [String: String] = [:]
            _ = await recorded({ $0.sampleRate = sampling.rate }) {
                let tracer = MartletTracer()
                tracer.withSpan("checkout", ofKind: .server) { span in
                    logger.info("within")
                    tracer.inject(span.context, into: &headers, using: Headers())
                }
                logger.info("after")
            }
            let (within, after) = (handler.entries[0].metadata, handler.entries[1].metadata)
            let (trace, span) = (try #require(within["trace_id"]), try #require(within["span_id"]))
            #expect(headers["traceparent"] == "00-\(trace)-\(span)-\(sampling.flags)")
            #expect(within["trace_flags"] == .string(sampling.flags))
            #expect(after == [:])
        }

        @Test func logLinesHaveTheRemoteCallersIDsBeforeTheFirstSpan() throws {
            var context = ServiceContext.topLevel
            let header = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
            MartletTracer().extract(["traceparent": header], into: &context, using: Headers())
            let span = try #require(context.martletSpanContext)
            #expect("00-\(span.traceID)-\(span.spanID)-\(span.traceFlags)" == header)
            ServiceContext.withValue(context) { logger(.martlet).info("received") }
            #expect(handler.entries[0].metadata["trace_id"] == .string(span.traceID))
        }

        @Test func serviceCanCombineItWithItsOwnProvider() async throws {
            let own = Logger.MetadataProvider { ["tenant": "blue"] }
            let logger = logger(.multiplex([own, .martlet]))
            _ = await recorded { MartletTracer().withSpan("checkout") { _ in logger.info("within") } }
            #expect(handler.entries[0].metadata.keys.sorted() == ["span_id", "tenant", "trace_flags", "trace_id"])
        }
    }
}
