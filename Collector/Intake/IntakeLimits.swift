import MartletTelemetry

/// The limits of a single request to the collector.
package struct IntakeLimits: Sendable, Equatable {
    /// Maximum bytes of a body, before and after inflating (OTLP specification, "OTLP/HTTP Request": 64 MiB is recommended).
    package var maxBodyBytes = 64 * 1024 * 1024
    /// Maximum bytes of memory that a decoded body may take, including its texts. A body of 64 MiB can encode 32 million empty
    /// messages, which take a hundred bytes each once decoded. A body of 8,192 points with 20 attributes each fits, which is
    /// more than a batch of the OpenTelemetry Collector.
    package var maxMessageBytes = 96 * 1024 * 1024
    /// Maximum bytes of a body that is decoded without first computing the memory of its messages. They take 2 MiB at most.
    package var lightBodyBytes = 16 * 1024
    /// Maximum bytes of an attribute that distinguishes senders or series. A point with a longer one is refused.
    package var maxAttributeBytes = 1024
    /// Maximum bytes of a URL or an error's message. A longer text is cut.
    package var maxTextBytes = 4096
    /// Maximum requests in one point. A greater count is not credible, and adding up such counts could overflow.
    package var maxRequestsPerPoint: UInt64 = 1 << 40
    /// Maximum buckets of all sketches of a body. They take 64 MiB. A few bytes can encode thousands of buckets. The 8,192
    /// points that an OpenTelemetry Collector sends at once have half as many. Further points are refused.
    package var maxSketchBuckets = 8 * 1024 * 1024

    /// Maximum attributes of a span, and of each of its events and links. Further attributes are left out and counted.
    package var maxSpanAttributes = 128
    /// Maximum events of a span. Further events are left out and counted.
    package var maxSpanEvents = 128
    /// Maximum links of a span. Further links are left out and counted.
    package var maxSpanLinks = 128
    /// Maximum elements of an attribute that is an array. A longer array is cut.
    package var maxAttributeElements = 128
    /// Maximum bytes of a request's or answer's body that an agent was configured to keep. Agents send no more. A longer text
    /// is cut.
    package var maxBodyTextBytes = 1024 * 1024
    /// Maximum bytes of the names and values of the other attributes of a span, its events and its links together. An attribute
    /// that does not fit is left out.
    package var maxSpanBytes = 64 * 1024

    /// The times at which points and spans may end. ``Intake`` sets them for each body.
    var times = AcceptedTimes.all

    /// Maximum bytes of a text that may be a name. A longer text is not searched for U+0000: it is refused by
    /// ``maxAttributeBytes``, or cut.
    static let longestName = 4096
    /// Maximum bytes of the sentence in which an agent explains its capture mode. A longer sentence is cut.
    static let captureReasonBytes = 1024
    /// Maximum bytes of the name and version of a runtime. A longer text is cut.
    static let runtimeBytes = 64
    /// Maximum points of one process in a body: about as many as a sender of one point a minute has buffered after three days
    /// without its collector.
    static let maxProcessPoints = 4096
    /// Maximum ends of processes in a body, and bytes of what is said of an end. More ends are refused, a longer text is cut.
    static let maxProcessEnds = 1024, endTextBytes = 256
    /// Maximum bytes of a reason for loss in an agent's ledger. A longer reason is cut.
    static let dropReasonBytes = 64
    /// Maximum reasons for loss in a ledger. The requests of further reasons count as ``LedgerReading/otherReason``.
    static let maxDropReasons = 32

    package init() {}

    var attributeRoom: AttributeRoom {
        AttributeRoom(count: maxSpanAttributes, nameBytes: maxAttributeBytes, bytes: maxSpanBytes)
    }
}
