public import Logging
import ServiceContextModule

extension Logger.MetadataProvider {
    /// Adds `trace_id`, `span_id` and `trace_flags` of the current span to each line of a log (OpenTelemetry specification,
    /// "Trace Context in non-OTLP Log Formats"), and nothing outside a trace. Any thread may call it, and no call waits.
    ///
    ///     LoggingSystem.bootstrap(StreamLogHandler.standardError, metadataProvider: .martlet)
    ///
    /// A service with a provider of its own has both with `.multiplex([yours, .martlet])`.
    public static let martlet = Logger.MetadataProvider {
        guard let span = ServiceContext.current?.martletSpanContext else { return [:] }
        return [
            "trace_id": .string(span.traceID), "span_id": .string(span.spanID), "trace_flags": .string(span.traceFlags),
        ]
    }
}
