import Hummingbird

/// What the collector bears from all its clients together. What a single sender may ask for is in `IntakeLimits`.
package struct ServerLimits: Sendable {
    /// Connections at a time. More wait to be accepted.
    package var maxConnections = 1024
    /// Of a request's header fields together, and of its target. More is answered with 400, and the connection closed.
    package var maxHeaderBytes = 32 * 1024
    /// Header fields of a request, likewise.
    package var maxHeaderFields = 100
    /// A connection on which nothing was said for so long is closed, also one whose header fields never end. Longer than the
    /// minute in which OpenTelemetry's SDKs send metrics, so that they find their connection open.
    package var idleTimeout = Duration.seconds(75)
    /// From the end of a request's header fields to the end of its body; a connection that takes longer is closed. 64 MiB
    /// pass in it at 9 Mbit/s.
    package var bodyTimeout = Duration.seconds(60)
    /// For a client to take what waits of its answers (see ``AnswerDeadline``); a connection on which that takes longer is closed.
    /// 64 MiB pass in it at 9 Mbit/s.
    package var answerTimeout = Duration.seconds(60)
    /// Requests with telemetry at a time. More are answered with 429.
    package var maxIngests = 512
    /// Of memory for the telemetry of all requests that are in work, from the first byte of a body to the end of its
    /// commit. More is answered with 429. The largest request that `IntakeLimits` allows takes five sixths of it.
    package var maxIngestBytes = 192 * 1024 * 1024
    /// Of room for a body of telemetry, when its first bytes come. Most have no more, and are never copied.
    static let firstBodyBytes = 64 * 1024
    /// Of a body of telemetry, inflated, that is decoded on its connection's event loop, which mostly takes a millisecond and keeps
    /// the loop's other connections waiting for as long. Larger ones are decoded elsewhere.
    static let eventLoopBodyBytes = 64 * 1024
    /// Reports and lists of senders at a time, each until its answer was sent; as many pages of metrics as well. The embedded
    /// store has two readers more (five, GRDB's default), so that neither `/readyz` nor maintenance waits behind a report.
    package var maxReads = 3
    /// Of each that wait for their turn: the panels of some dashboards. More are answered with 503.
    package var maxWaitingReads = 32
    /// What a 429 or a 503 asks a sender to wait, in seconds (RFC 9110, section 10.2.3).
    package static let retryAfterSeconds = 1

    package init() {}
}
