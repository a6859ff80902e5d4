import MartletTelemetry

/// A request that ended, as an instrument hands it to recording: what is counted, and how to make a span of it where its
/// details are kept.
struct CapturedRequest: Sendable {
    var kind = RequestKind.client
    var method: String
    var destination: RequestDestination
    /// The endpoint where the instrument knows it (a server's route); `nil` where the path tells.
    var route: String?
    var status: Int?
    /// `error.type`; `nil` for a success.
    var error: String?
    /// By the wall clock.
    var start: UnixNanoseconds
    /// By the monotonic clock.
    var durationNanoseconds: UInt64
    var bytesSent: UInt64 = 0
    var bytesReceived: UInt64 = 0
    var phases = PhaseDurations()
    /// Makes the span when the request is folded into the statistics, with the endpoint that it was counted to; `nil`
    /// where details are not kept. It should hold no more than it needs: it waits in memory until then.
    var makeSpan: (@Sendable (RequestDimensions) -> SpanRecord)?
    /// Roughly what ``makeSpan`` and its span hold.
    var detailBytes = 0

    var outcome: RequestOutcome { RequestOutcome(kind: kind, status: status, error: error) }
}
