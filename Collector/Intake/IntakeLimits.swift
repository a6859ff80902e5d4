import MartletTelemetry

/// What a sender may ask of the collector.
package struct IntakeLimits: Sendable, Equatable {
    /// Of a body, before inflating and again after it (OTLP specification, "OTLP/HTTP Request": 64 MiB is recommended).
    package var maxBodyBytes = 64 * 1024 * 1024
    /// Of memory that a decoded body may take, its texts included. A body of 64 MiB can hold 32 million empty messages of a
    /// hundred bytes; 8,192 points with 20 attributes each, more than a batch of an OpenTelemetry Collector has, fit.
    package var maxMessageBytes = 96 * 1024 * 1024
    /// Of a body whose messages are not weighed before they are decoded: they take 2 MiB at most.
    package var lightBodyBytes = 16 * 1024
    /// Of an attribute that tells senders or series apart. A point with a longer one is refused.
    package var maxAttributeBytes = 1024
    /// Of a URL or an error's message. What is longer is cut.
    package var maxTextBytes = 4096
    /// Requests in one point. More cannot have happened, and sums of sums would overflow.
    package var maxRequestsPerPoint: UInt64 = 1 << 40
    /// Buckets of all sketches that are made of a body, 64 MiB: a few bytes of a body can stand for thousands of them. The
    /// 8,192 points that an OpenTelemetry Collector sends at once have half as many. Points past it are refused.
    package var maxSketchBuckets = 8 * 1024 * 1024

    /// Attributes of a span, and of each of its events and links; more are left out and counted.
    package var maxSpanAttributes = 128
    /// Events of a span, likewise.
    package var maxSpanEvents = 128
    /// Links of a span, likewise.
    package var maxSpanLinks = 128
    /// Elements of an attribute that is an array; it is cut to them.
    package var maxAttributeElements = 128
    /// Of a body that an agent was asked to keep; agents send no more.
    package var maxBodyTextBytes = 1024 * 1024
    /// Of the names and values of all other attributes of a span, its events and its links. What finds no room is left out.
    package var maxSpanBytes = 64 * 1024

    /// Bytes of a text that may be a name. What is longer is refused by ``maxAttributeBytes``, or cut, and not looked through
    /// before.
    static let longestName = 4096
    /// Of the sentence that an agent says why it captures as it does. What is longer is cut.
    static let captureReasonBytes = 1024
    /// Of a reason for loss in an agent's ledger, likewise.
    static let dropReasonBytes = 64
    /// Reasons for loss in a ledger; the requests of more count to ``LedgerReading/otherReason``.
    static let maxDropReasons = 32

    package init() {}

    var attributeRoom: AttributeRoom {
        AttributeRoom(count: maxSpanAttributes, nameBytes: maxAttributeBytes, bytes: maxSpanBytes)
    }
}
