import MartletStorage
import MartletTelemetry

/// A page of kept requests. Its JSON is a fixed format.
package struct RequestsReport: Sendable, Equatable, Codable {
    /// The window in which the requests started, RFC 3339, UTC.
    package var from: String
    package var to: String
    /// The number of kept requests on all pages.
    package var count: Int
    package var requests: [RequestSummary]
    /// The id after which the next page begins (`before`); `nil`, and left out, on the last page.
    package var next: String?

    package init(_ answer: RequestsAnswer, for query: RequestsQuery) {
        from = TimeText.exact(query.window.from)
        to = TimeText.exact(query.window.to)
        count = answer.count
        requests = answer.requests.compactMap { RequestSummary($0) }
        next = answer.isThereMore ? answer.requests.last?.id : nil
    }
}

/// The main fields of a kept request.
package struct RequestSummary: Sendable, Equatable, Codable {
    package var id: String
    /// The start by the sender's clock, RFC 3339 in milliseconds, UTC.
    package var time: String
    /// Milliseconds.
    package var duration: Double
    package var service: String
    package var environment: String?
    package var version: String?
    package var instance: String
    package var kind: RequestKind
    /// The called system, such as `postgresql`; `nil`, and left out, for HTTP.
    package var system: String?
    package var method: String
    /// Host and port.
    package var host: String
    package var endpoint: String
    /// The redacted address; `nil` if the sender does not send it.
    package var url: String?
    package var status: Int?
    /// `error.type`
    package var error: String?
    /// The name of the rule that changed the request; `nil`, and left out, for none.
    package var rule: String?
    package var message: String?
    package var failed: Bool
    package var bytes: Bytes
    /// Milliseconds by ``RequestPhase``; empty if the sender does not send any.
    package var phases: [String: Double]
    /// Hexadecimal ids.
    package var traceID: String
    package var spanID: String
    package var parentSpanID: String?

    /// The sizes of the bodies; `nil` if the sender does not send them.
    package struct Bytes: Sendable, Equatable, Codable {
        package var sent: UInt64?
        package var received: UInt64?

        /// Spans have 0 for an unknown size. Martlet's agents send every size.
        fileprivate init(_ span: SpanRecord, from sender: TelemetryResource) {
            sent = span.bytesSent > 0 || sender.isMartlet ? span.bytesSent : nil
            received = span.bytesReceived > 0 || sender.isMartlet ? span.bytesReceived : nil
        }
    }

    private enum CodingKeys: String, CodingKey {
        case id, time, service, environment, version, instance, kind, system, method, host, endpoint, url, status,
            error, rule, message
        case failed, bytes
        case duration = "duration_ms"
        case phases = "phases_ms"
        case traceID = "trace_id"
        case spanID = "span_id"
        case parentSpanID = "parent_span_id"
    }

    /// Returns `nil` if the span is not a request.
    package init?(_ stored: StoredSpan) {
        let (resource, span) = (stored.resource, stored.span)
        guard let request = span.request else { return nil }
        id = stored.id
        time = TimeText.milliseconds(span.start)
        duration = Double(span.durationNanoseconds) / 1e6
        (service, environment, version) = (resource.service, resource.environment, resource.version)
        instance = resource.instance
        (kind, system, method) = (request.kind, request.system, request.method)
        (host, endpoint) = (request.authority, request.endpoint)
        url = span.url.isEmpty ? nil : span.url
        (status, error, rule, message) = (request.status, request.error, request.rule, span.message)
        failed = RequestClass(request).isFailure
        bytes = Bytes(span, from: resource)
        phases = SpanContents(span).phases
        traceID = span.traceID.description
        spanID = span.spanID.description
        parentSpanID = span.parentSpanID?.description
    }
}

/// The answer to the deletion of kept requests.
package struct RemovalReport: Sendable, Equatable, Codable {
    /// The number of spans that were deleted.
    package var removed: Int

    package init(removed: Int) {
        self.removed = removed
    }
}
