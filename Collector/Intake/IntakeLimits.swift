import MartletTelemetry

/// The limits of a single request to the collector.
package struct IntakeLimits: Sendable, Equatable {
    /// Bytes of a body, before inflating and after it (OTLP specification, "OTLP/HTTP Request": 64 MiB is recommended).
    package var maxBodyBytes = 64 * 1024 * 1024
    /// Bytes of memory that a decoded body may take, its texts included. A body of 64 MiB can hold 32 million empty
    /// messages of a hundred bytes. A body of 8,192 points with 20 attributes each, more than an OpenTelemetry
    /// Collector's batch has, fits.
    package var maxMessageBytes = 96 * 1024 * 1024
    /// Bytes of a body whose messages are decoded without weighing them. They take 2 MiB at most.
    package var lightBodyBytes = 16 * 1024
    /// Bytes of an attribute that distinguishes senders or series. A point with a longer one is refused.
    package var maxAttributeBytes = 1024
    /// Bytes of a URL or an error's message. A longer text is cut.
    package var maxTextBytes = 4096
    /// Requests in one point. A greater count is not credible, and sums of sums would overflow.
    package var maxRequestsPerPoint: UInt64 = 1 << 40
    /// Buckets of all sketches of a body, 64 MiB: a few bytes of a body can stand for thousands of buckets. The 8,192
    /// points that an OpenTelemetry Collector sends at once have half as many. Further points are refused.
    package var maxSketchBuckets = 8 * 1024 * 1024

    /// Attributes of a span, and of each of its events and links. Further attributes are left out and counted.
    package var maxSpanAttributes = 128
    /// Events of a span. Further events are left out and counted.
    package var maxSpanEvents = 128
    /// Links of a span. Further links are left out and counted.
    package var maxSpanLinks = 128
    /// Elements of an attribute that is an array. A longer array is cut.
    package var maxAttributeElements = 128
    /// Bytes of a request's or answer's body that an agent was configured to keep; agents send no more. A longer text is
    /// cut.
    package var maxBodyTextBytes = 1024 * 1024
    /// Bytes of the names and values of all other attributes of a span, its events and its links. An attribute that finds
    /// no room is left out.
    package var maxSpanBytes = 64 * 1024

    /// Bytes of a text that may be a name. A longer text is refused by ``maxAttributeBytes``, or cut, without a search
    /// for U+0000 before.
    static let longestName = 4096
    /// Bytes of the sentence in which an agent explains its capture mode. A longer sentence is cut.
    static let captureReasonBytes = 1024
    /// Bytes of the name and version of a runtime. A longer text is cut.
    static let runtimeBytes = 64
    /// Points of one process in a body: as many as a sender of one point a minute has after three days without its collector.
    static let maxProcessPoints = 4096
    /// Bytes of a reason for loss in an agent's ledger. A longer reason is cut.
    static let dropReasonBytes = 64
    /// Reasons for loss in a ledger. The requests of further reasons count as ``LedgerReading/otherReason``.
    static let maxDropReasons = 32

    package init() {}

    var attributeRoom: AttributeRoom {
        AttributeRoom(count: maxSpanAttributes, nameBytes: maxAttributeBytes, bytes: maxSpanBytes)
    }
}
