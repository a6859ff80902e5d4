import MartletTelemetry

/// The phases of a request in the words of HAR 1.2, in milliseconds. -1 stands for a phase that the request did not have, or that
/// is not known.
struct HARTimings: Sendable, Equatable, Encodable {
    var blocked = -1.0
    var dns = -1.0
    /// With the time of the TLS handshake, as HAR has it.
    var connect = -1.0
    /// Sending is a part of ``wait``, which begins with the first byte that is written.
    var send = 0.0
    /// With the time that no phase tells.
    var wait = 0.0
    var receive = 0.0
    var ssl = -1.0

    init(_ report: RequestReport) {
        let bars = PhaseWaterfall(report)?.bars ?? []
        for bar in bars { add(bar.phase, bar.length) }
        wait += max(0, report.summary.duration - bars.reduce(0) { $0 + $1.length })
    }

    private mutating func add(_ phase: RequestPhase, _ time: Double) {
        switch phase {
        case .queue: blocked = time
        case .dns: dns = time
        case .connect: connect = max(0, connect) + time
        case .tls: (ssl, connect) = (time, max(0, connect) + time)
        case .firstByte: wait += time
        case .transfer: receive += time
        }
    }

    /// All timings that are known; `ssl` is in `connect`.
    var sum: Double { [blocked, dns, connect, send, wait, receive].reduce(0) { $0 + max(0, $1) } }
}
