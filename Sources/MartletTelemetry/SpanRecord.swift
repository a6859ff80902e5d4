/// A kept operation with its details: a span of the OpenTelemetry data model. The attributes of the semantic conventions
/// that every HTTP request has are in ``request``, ``url`` and the sizes, and all others in ``attributes``.
package struct SpanRecord: Sendable, Equatable {
    package enum Kind: String, Sendable, CaseIterable {
        case `internal`
        case client
        case server
        case producer
        case consumer
    }

    package var traceID: TraceID
    package var spanID: SpanID
    /// `nil` for a root span.
    package var parentSpanID: SpanID?
    /// The trace state (W3C Trace Context, section 3.3); empty if the span has none.
    package var traceState = ""
    /// Whether the trace is sampled (W3C Trace Context, section 3.2.2.5.1). For other programs: a span is sent in
    /// either case.
    package var isSampled = false
    package var name: String
    package var kind: Kind
    package var start: UnixNanoseconds
    package var durationNanoseconds: UInt64
    package var isError = false
    /// Whether the span's author marked it `ok`. For other programs: Martlet's collector counts the request as a success.
    package var isOK = false
    /// The message of the error; `nil` if the error has none.
    package var message: String?
    /// `nil` for an operation that is not a request.
    package var request: RequestDimensions?
    /// The redacted URL; empty if it is unknown.
    package var url = ""
    /// Sent body bytes.
    package var bytesSent: UInt64 = 0
    package var bytesReceived: UInt64 = 0
    /// The attributes that ``request``, ``url`` and the sizes do not cover.
    package var attributes: [String: SpanAttribute] = [:]
    package var events: [SpanEvent] = []
    package var links: [SpanLink] = []
    /// The numbers of attributes, events and links that a limit left out.
    package var droppedAttributes: UInt32 = 0
    package var droppedEvents: UInt32 = 0
    package var droppedLinks: UInt32 = 0

    package init(
        traceID: TraceID, spanID: SpanID, parentSpanID: SpanID? = nil, name: String, kind: Kind,
        start: UnixNanoseconds, durationNanoseconds: UInt64
    ) {
        self.traceID = traceID
        self.spanID = spanID
        self.parentSpanID = parentSpanID
        self.name = name
        self.kind = kind
        self.start = start
        self.durationNanoseconds = durationNanoseconds
    }
}

extension SpanRecord {
    /// Returns the span name of the semantic conventions ("HTTP Spans", "Database Spans", "Messaging Spans"): method and
    /// template, never the path; the summary of a statement; operation and destination.
    package static func name(of request: RequestDimensions) -> String {
        switch request.conventions {
        case .database: return request.endpoint
        case .messaging: return "\(request.method) \(request.endpoint)"
        case .http, .rpc: break
        }
        return "\(request.method == RequestDimensions.otherMethodOrError ? "HTTP" : request.method) \(request.endpoint)"
    }
}

/// The value of an attribute (specification, "Common", section AnyValue, as far as spans use it).
package enum SpanAttribute: Sendable, Hashable {
    case string(String)
    case integer(Int64)
    case double(Double)
    case boolean(Bool)
    case array([SpanAttribute])
}

/// An event at a moment within a span.
package struct SpanEvent: Sendable, Equatable {
    package var name: String
    package var time: UnixNanoseconds
    package var attributes: [String: SpanAttribute]

    package init(name: String, time: UnixNanoseconds, attributes: [String: SpanAttribute] = [:]) {
        self.name = name
        self.time = time
        self.attributes = attributes
    }
}

/// A span that this one is related to, but not as its child.
package struct SpanLink: Sendable, Equatable {
    package var traceID: TraceID
    package var spanID: SpanID
    package var attributes: [String: SpanAttribute]

    package init(traceID: TraceID, spanID: SpanID, attributes: [String: SpanAttribute] = [:]) {
        self.traceID = traceID
        self.spanID = spanID
        self.attributes = attributes
    }
}
