import MartletOTLP
import MartletTelemetry

/// The phases of a request as bars, each of which begins where the one before it ended. All times are milliseconds.
package struct PhaseWaterfall: Sendable, Equatable {
    package struct Bar: Sendable, Equatable {
        package var phase: RequestPhase
        /// The time from the start of the request.
        package var start: Double
        package var length: Double
        /// Whether the request failed in this phase, which lasted for the rest of its time.
        package var isUnfinished: Bool

        package var side: PhaseSide { PhaseSide(phase) }
    }

    package enum Connection: Sendable, Equatable {
        case new
        /// An earlier request had opened the connection.
        case reused
        /// Neither the phases of the request nor its sender show whether the connection was new.
        case unknown
    }

    package private(set) var bars: [Bar] = []
    package let connection: Connection
    /// The time at the end of the scale: the request's duration, or the sum of its phases if that is longer.
    package let scale: Double

    /// Returns `nil` if the sender sends no phases.
    package init?(_ report: RequestReport) {
        self.init(report.summary, isReused: report.attributes[AttributeName.connectionReused])
    }

    /// Returns `nil` if the sender sends no phases.
    ///
    /// - Parameter isReused: what the sender reported about the connection; `nil` if that is unknown here.
    init?(_ request: RequestSummary, isReused: String? = nil) {
        let times = RequestPhase.allCases.compactMap { phase in
            request.phases[phase.rawValue].map { (phase: phase, time: $0.isFinite ? max(0, $0) : 0) }
        }
        guard !times.isEmpty else { return nil }
        let phases = Set(times.map(\.phase))
        connection = Self.connection(phases, isReused: isReused)
        var end = 0.0
        for (phase, time) in times {
            bars.append(Bar(phase: phase, start: end, length: time, isUnfinished: false))
            end += time
        }
        if let phase = Self.unfinished(after: phases, connection, of: request), request.duration > end {
            bars.append(Bar(phase: phase, start: end, length: request.duration - end, isUnfinished: true))
        }
        scale = max(request.duration, end)
    }

    private static func connection(_ phases: Set<RequestPhase>, isReused: String?) -> Connection {
        guard phases.isDisjoint(with: [.dns, .connect, .tls]) else { return .new }
        return isReused == "true" || phases.contains(.firstByte) ? .reused : .unknown
    }

    /// Returns the phase in which a request without a response failed; `nil` if it got a response or the phase is unknown.
    private static func unfinished(
        after phases: Set<RequestPhase>, _ connection: Connection, of request: RequestSummary
    ) -> RequestPhase? {
        guard request.error != nil, request.status == nil, !phases.contains(.firstByte) else { return nil }
        guard connection == .new else { return connection == .reused ? .firstByte : nil }
        guard phases.contains(.connect) || phases.contains(.tls) else { return .connect }
        let isSecure = request.url?.hasPrefix("https:") ?? false
        return isSecure && !phases.contains(.tls) ? .tls : .firstByte
    }
}

/// The side on which a request's time was spent.
package enum PhaseSide: CaseIterable, Sendable {
    /// The service that made the request.
    case ours
    /// The network, in both directions.
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
