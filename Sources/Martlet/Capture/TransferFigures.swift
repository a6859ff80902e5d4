#if os(Linux)
import CMartletHooks
import MartletTelemetry

/// What libcurl measured of the last transfer of a request: of a redirected one, of its last hop.
struct TransferFigures: Sendable {
    private let transfer: martlet_transfer
    /// Whether there is more than sizes.
    private let isTimed: Bool
    private let firstByte: UInt64?

    /// - Parameter firstByte: nanoseconds from the request written to the head of its answer, where that was seen. Of a
    ///   request with a body libcurl itself tells when the first byte of that was sent.
    init(_ transfer: martlet_transfer, isTimed: Bool = true, firstByte: UInt64? = nil) {
        self.transfer = transfer
        self.isTimed = isTimed
        self.firstByte =
            firstByte ?? (transfer.bytes_sent > 0 ? nil : Self.between(transfer.ready, transfer.first_byte))
    }

    var bytesSent: UInt64 { UInt64(clamping: transfer.bytes_sent) }
    /// As they came over the network: of a compressed body its compressed size.
    var bytesReceived: UInt64 { UInt64(clamping: transfer.bytes_received) }
    /// The connection had been used before.
    var isConnectionReused: Bool { transfer.connections == 0 && transfer.ready > 0 }

    /// - Parameter duration: of the whole request, in nanoseconds. What of it was not the transfer is the queue: waiting
    ///   for the session, for one of its connections, and the earlier hops of a redirect.
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

    /// `nil` where the transfer did not get to the end of the phase.
    private static func between(_ start: Int64, _ end: Int64) -> UInt64? {
        end > 0 && end >= start ? nanoseconds(end - start) : nil
    }

    private static func nanoseconds(_ microseconds: Int64) -> UInt64 {
        UInt64(clamping: microseconds).multipliedReportingOverflow(by: 1000).partialValue
    }
}
#endif
