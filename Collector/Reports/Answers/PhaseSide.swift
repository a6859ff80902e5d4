import MartletTelemetry

/// The side on which a request's time was spent.
package enum PhaseSide: CaseIterable, Sendable {
    /// The service that made the request.
    case ours
    /// The network, there and back.
    case way
    /// The server.
    case theirs

    package init(_ phase: RequestPhase) {
        switch phase {
        case .queue: self = .ours
        case .dns, .connect, .tls, .transfer: self = .way
        case .firstByte: self = .theirs
        }
    }
}
