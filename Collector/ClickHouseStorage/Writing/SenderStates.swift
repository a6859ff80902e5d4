import MartletPoints
import MartletTelemetry

/// The senders as this process has seen them. Each process writes rows of its own, which are put together when they are read,
/// so collectors need not know of each other's.
struct SenderStates {
    /// Senders at most. Past it all are forgotten, and later rows have the name of another process.
    private static let maxSenders = 100_000

    private var writer = UInt64.random(in: 1 ... .max)
    private var revision: UInt64 = 0
    private var states: [UInt64: SenderState] = [:]

    /// Takes note of a sender and appends its row.
    ///
    /// - Parameter points: the points that it sent.
    mutating func note(
        _ resource: TelemetryResource, id: UInt64, at now: UnixNanoseconds, until end: UnixNanoseconds,
        points: [RequestPoint], ledger: LedgerReading? = nil, in rows: inout TableRows
    ) {
        if states.count >= Self.maxSenders, states[id] == nil {
            (states, writer) = ([:], UInt64.random(in: 1 ... .max))
        }
        var state = states.removeValue(forKey: id) ?? SenderState(firstSeen: now, lastSeen: now)
        state.firstSeen = min(state.firstSeen, now)
        state.lastSeen = now
        state.lastEnd = max(state.lastEnd, end)
        if !resource.isMartlet {
            for point in points where point.statistics.requests > 0 {
                state.kinds |= StatisticsBit.of(point.dimensions.kind, point.dimensions.source)
            }
        }
        if let ledger { state.note(ledger, requests: points.reduce(0) { $0 &+ $1.statistics.requests }) }
        states[id] = state
        revision += 1
        rows.append(state, of: resource, id: id, writer: writer, revision: revision)
    }
}

/// A kind of requests and the telemetry that reported it, as a bit of a column.
enum StatisticsBit {
    static func of(_ kind: RequestKind, _ source: StatisticsSource) -> UInt8 {
        1 << (UInt8(kind == .server ? 2 : 0) + (source == .spans ? 1 : 0))
    }

    /// Returns the source that each reported kind is counted from: metrics, where there are some.
    static func sources(of bits: UInt8) -> [RequestKind: StatisticsSource] {
        RequestKind.allCases.reduce(into: [:]) { sources, kind in
            sources[kind] = [.metrics, .spans].first { bits & of(kind, $0) != 0 }
        }
    }
}
