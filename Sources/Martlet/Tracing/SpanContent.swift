import Tracing

/// The name, attributes, events, links, status and error that a span was given until now, within their limits.
struct SpanContent: Sendable {
    var name: String
    private(set) var attributes: SpanAttributes = [:]
    private(set) var events: [Tracing.SpanEvent] = []
    private(set) var links: [Tracing.SpanLink] = []
    var status: SpanStatus?
    /// The last recorded error.
    var error: SpanError?
    /// Whether a request within the span was counted, so that the span is not.
    var enclosesCountedRequest = false
    private(set) var droppedAttributes: UInt32 = 0
    private(set) var droppedEvents: UInt32 = 0
    private(set) var droppedLinks: UInt32 = 0

    init(name: String) {
        self.name = name
    }

    /// Replaces the attributes. Past the limit, attributes that the span has may change, and new ones are left out.
    mutating func setAttributes(_ new: SpanAttributes) {
        guard new.count > MartletLimits.attributes else { return attributes = new }
        var kept: SpanAttributes = [:]
        attributes.forEach { name, _ in kept.set(name, value: new.get(name)) }
        new.forEach { name, value in
            if kept.count < MartletLimits.attributes { kept.set(name, value: value) }
        }
        droppedAttributes &+= UInt32(clamping: new.count - kept.count)
        attributes = kept
    }

    mutating func add(_ event: Tracing.SpanEvent) {
        guard events.count < MartletLimits.spanEvents else { return droppedEvents &+= 1 }
        events.append(event)
    }

    mutating func add(_ link: Tracing.SpanLink) {
        guard links.count < MartletLimits.spanLinks else { return droppedLinks &+= 1 }
        links.append(link)
    }
}
