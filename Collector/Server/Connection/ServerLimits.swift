import Hummingbird

/// The limits of all clients together. `IntakeLimits` has the limits of a single request, such as the size of its body.
package struct ServerLimits: Sendable {
    /// Maximum connections at a time. Further connections wait to be accepted.
    package var maxConnections = 50_000
    /// Maximum connections at a time that have not shown a token yet, if senders need one; half of ``maxConnections`` at most.
    /// When another one comes, the oldest of them is closed.
    package var maxUnauthenticatedConnections = 1024
    /// Maximum connections at a time to the port for health and metrics. When another one comes, the oldest is closed.
    package var maxAdminConnections = 256
    /// Maximum connections that the system holds until they are accepted.
    static let backlog = 4096
    /// Maximum bytes of a request's header fields together, and of its target. A request with more gets a 431, and its
    /// connection is closed.
    package var maxHeaderBytes = 32 * 1024
    /// Maximum header fields of a request. A request with more gets a 431, and its connection is closed.
    package var maxHeaderFields = 100
    /// The time after which a silent connection is closed, including one whose header fields never end. OpenTelemetry's SDKs
    /// send metrics once a minute. This time is longer, so that they find their connection open.
    package var idleTimeout = Duration.seconds(75)
    /// The time from the end of a request's header fields to the end of its body. A connection that takes longer is closed. At
    /// 9 Mbit/s, 64 MiB arrive in this time.
    package var bodyTimeout = Duration.seconds(60)
    /// The time for a client to take the waiting bytes of its answers (see ``AnswerDeadline``). A connection that takes longer
    /// is closed. At 9 Mbit/s, 64 MiB leave in this time.
    package var answerTimeout = Duration.seconds(60)
    /// Bytes of memory for the telemetry of all requests in progress, from the first byte of a body to the end of its commit.
    /// Most bodies take less once they are decoded. Further requests get a 429. The largest request that `IntakeLimits` allows
    /// takes five sixths of it.
    package var maxIngestBytes = 192 * 1024 * 1024
    /// Bytes of the first reservation for a body of telemetry. A sender that begins a body and stalls holds this much.
    static let firstBodyBytes = 4096
    /// Maximum bytes of an inflated body that is decoded on its connection's event loop. Decoding usually takes a millisecond,
    /// and the loop's other connections wait meanwhile. A larger body is decoded elsewhere.
    static let eventLoopBodyBytes = 64 * 1024
    /// Waits before the answer to a wrong token from an address that gave many (``TokenAttempts``).
    package var delayAfterWrongTokens: @Sendable () async -> Void = { try? await Task.sleep(for: .seconds(1)) }
    /// Maximum reports, lists and views of the page at a time, each until its answer is sent. A reader has all of them but one at
    /// most. The same number of pages of metrics is allowed in addition. The embedded store has two more readers (five, GRDB's
    /// default), so that maintenance does not wait behind a report.
    package var maxReads = 3
    /// Maximum reads that wait for their turn, enough for the panels of some dashboards. Reports and views share one queue, and
    /// pages of metrics have another. Further reads get a 503, those of the reader with the most waiting reads first.
    package var maxWaitingReads = 32
    /// The time for reading the store for one answer. After it, the read is cancelled and gets a 503.
    package var readTimeout = Duration.seconds(30)
    /// The time after which a read loses its slot to a waiting read, if its client has taken nothing of the answer meanwhile.
    /// Its connection is closed.
    package var stallTimeout = Duration.seconds(1)
    /// Seconds after which a 429 or a 503 asks a sender to try again (RFC 9110, section 10.2.3).
    static let retryAfterSeconds = 1

    package init() {}
}
