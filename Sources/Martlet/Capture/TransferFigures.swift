#if os(Linux)
import CMartletHooks
import MartletTelemetry

/// libcurl's measurements of a request's last transfer, which is the last hop of a redirected request.
struct TransferFigures: Sendable {
    private let transfer: martlet_transfer
    /// Whether the figures have times, and not only sizes.
    private let isTimed: Bool
    private let firstByte: UInt64?

    /// - Parameter firstByte: the nanoseconds from writing the request to the head of its answer; `nil` where the head was
    ///   not observed. For a request with a body, libcurl itself gives the time of the first byte sent instead.
    init(_ transfer: martlet_transfer, isTimed: Bool = true, firstByte: UInt64? = nil) {
        self.transfer = transfer
        self.isTimed = isTimed
        self.firstByte =
            firstByte ?? (transfer.bytes_sent > 0 ? nil : Self.between(transfer.ready, transfer.first_byte))
    }

    var bytesSent: UInt64 { UInt64(clamping: transfer.bytes_sent) }
    /// The bytes that came over the network. A compressed body counts with its compressed size.
    var bytesReceived: UInt64 { UInt64(clamping: transfer.bytes_received) }
    /// Whether the connection had been used before.
    var isConnectionReused: Bool { transfer.connections == 0 && transfer.ready > 0 }

    /// Returns the phases of the request; none where the figures have no times. The queue is the part of the request
    /// outside its last transfer: waiting for the session or one of its connections, and the earlier hops of a redirect.
    ///
    /// - Parameter duration: the duration of the whole request, in nanoseconds.
    func phases(ofRequestTaking duration: UInt64) -> PhaseDurations {
        var phases = PhaseDurations()
        guard isTimed else { return phases }
        let waited = isConnectionReused ? transfer.ready : 0
        phases[.queue] = duration - min(duration, Self.nanoseconds(transfer.total - waited))
        if transfer.connections > 0 {
            phases[.dns] = Self.between(0, transfer.name_lookup)
            phases[.connect] = Self.between(transfer.name_lookup, transfer.connect)
            phases[.tls] = Self.between(transfer.connect, transfer.tls)
        }
        if let firstByte, let answer = Self.between(transfer.ready, transfer.total) {
            phases[.firstByte] = min(firstByte, answer)
            phases[.transfer] = answer - min(firstByte, answer)
        }
        return phases
    }

    /// Returns the nanoseconds between two times of libcurl, which are in microseconds; `nil` where the transfer did not
    /// reach the end of the phase.
    private static func between(_ start: Int64, _ end: Int64) -> UInt64? {
        end > 0 && end >= start ? nanoseconds(end - start) : nil
    }

    private static func nanoseconds(_ microseconds: Int64) -> UInt64 {
        UInt64(clamping: microseconds).multipliedReportingOverflow(by: 1000).partialValue
    }
}
#endif
