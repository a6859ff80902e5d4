/// What a sender may ask of the collector.
package struct IntakeLimits: Sendable, Equatable {
    /// Of a body, before inflating and again after it (OTLP specification, "OTLP/HTTP Request": 64 MiB is recommended).
    package var maxBodyBytes = 64 * 1024 * 1024
    /// Of an attribute that tells senders or series apart. A point with a longer one is refused.
    package var maxAttributeBytes = 1024
    /// Of a URL or an error's message. What is longer is cut.
    package var maxTextBytes = 4096
    /// Requests in one point. More cannot have happened, and sums of sums would overflow.
    package var maxRequestsPerPoint: UInt64 = 1 << 40

    /// Of the sentence that an agent says why it captures as it does. What is longer is cut.
    static let captureReasonBytes = 1024

    package init() {}
}
