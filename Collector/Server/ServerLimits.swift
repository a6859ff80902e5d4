import Hummingbird

/// The limits of all clients together. `IntakeLimits` has the limits of a single request.
package struct ServerLimits: Sendable {
    /// Connections at a time. Further connections wait to be accepted.
    package var maxConnections = 50_000
    /// Connections at a time that have not shown a token yet, if senders need one; half of ``maxConnections`` at most. When
    /// one more comes, the oldest of them is closed.
    package var maxNewcomers = 1024
    /// Connections at a time to the port for health and metrics. When one more comes, the oldest is closed.
    package var maxAdminConnections = 256
    /// Connections that the system holds until they are accepted.
    static let backlog = 4096
    /// Bytes of a request's header fields together, and of its target. A request with more gets a 431, and its connection
    /// is closed.
    package var maxHeaderBytes = 32 * 1024
    /// Header fields of a request. A request with more gets a 431, and its connection is closed.
    package var maxHeaderFields = 100
    /// The time after which a silent connection is closed, including one whose header fields never end. It is longer than
    /// the minute in which OpenTelemetry's SDKs send metrics, so that they find their connection open.
    package var idleTimeout = Duration.seconds(75)
    /// The time from the end of a request's header fields to the end of its body. A connection that takes longer is
    /// closed. 64 MiB pass in it at 9 Mbit/s.
    package var bodyTimeout = Duration.seconds(60)
    /// The time for a client to take the waiting bytes of its answers (see ``AnswerDeadline``). A connection that takes
    /// longer is closed. 64 MiB pass in it at 9 Mbit/s.
    package var answerTimeout = Duration.seconds(60)
    /// Bytes of memory for the telemetry of all requests in work, from the first byte of a body to the end of its commit. Most
    /// bodies take less once they are decoded. Further requests get a 429. The largest request that `IntakeLimits` allows takes
    /// five sixths of it.
    package var maxIngestBytes = 192 * 1024 * 1024
    /// Bytes of the first reservation for a body of telemetry: what a sender holds that begins a body and stalls.
    static let firstBodyBytes = 4096
    /// Bytes of an inflated body of telemetry that is decoded on its connection's event loop. Decoding mostly takes a
    /// millisecond, for which the loop's other connections wait. A larger body is decoded elsewhere.
    static let eventLoopBodyBytes = 64 * 1024
    /// Reports, lists and views of the page at a time, each until its answer was sent, and as many pages of metrics as well. The
    /// embedded store has two readers more (five, GRDB's default), so that maintenance does not wait behind a report.
    package var maxReads = 3
    /// Reads that wait for their turn, for reports and views together, and for pages of metrics: the panels of some dashboards. Further
    /// reads get a 503.
    package var maxWaitingReads = 32
    /// The time after which a read gives its slot to one that waits, if its client has taken nothing of the answer
    /// meanwhile. Its connection is closed.
    package var readPatience = Duration.seconds(1)
    /// Seconds after which a 429 or a 503 asks a sender to try again (RFC 9110, section 10.2.3).
    static let retryAfterSeconds = 1

    package init() {}
}
