import MartletStorage
import MartletTelemetry

/// The senders as this process has seen them. Each process writes separate rows, which are combined when they are read. So a
/// collector need not know the rows of others.
struct SenderStates {
    /// The largest number of senders. Beyond it, all are forgotten, and later rows get a new writer number, as if another
    /// process wrote them.
    private static let maxSenders = 100_000

    private var writer = UInt64.random(in: 1 ... .max)
    private var revision: UInt64 = 0
    private var states: [UInt64: SenderState] = [:]

    /// Records a sender and appends its row.
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
                state.kinds |= StatisticsBit.bit(point.dimensions.kind, point.dimensions.source)
            }
        }
        if let ledger { state.note(ledger, requests: points.reduce(0) { $0 &+ $1.statistics.requests }) }
        states[id] = state
        revision += 1
        rows.append(state, of: resource, id: id, writer: writer, revision: revision)
    }
}

/// A kind of request and the telemetry that reported it, as a bit of a column.
enum StatisticsBit {
    static func bit(_ kind: RequestKind, _ source: StatisticsSource) -> UInt8 {
        1 << (UInt8(kind == .server ? 2 : 0) + (source == .spans ? 1 : 0))
    }

    /// Returns the source from which each reported kind is counted: metrics if there are any, otherwise spans.
    static func sources(of bits: UInt8) -> [RequestKind: StatisticsSource] {
        RequestKind.allCases.reduce(into: [:]) { sources, kind in
            sources[kind] = [.metrics, .spans].first { bits & bit(kind, $0) != 0 }
        }
    }
}

/// A sender as one process has seen it.
struct SenderState {
    var firstSeen: UnixNanoseconds
    var lastSeen: UnixNanoseconds
    var lastEnd: UnixNanoseconds = 0
    /// The bits of what was reported: see ``StatisticsBit``.
    var kinds: UInt8 = 0
    var firstReading: UnixNanoseconds = 0
    var lastReading: UnixNanoseconds = 0
    /// The reading with the most captured requests.
    var ledger: LedgerReading?
    /// The requests in the batches that brought that reading.
    var requests: UInt64 = 0

    /// Records a reading. Two readings with the same time become one: the account that arrived later, with the sum of their
    /// requests.
    mutating func note(_ reading: LedgerReading, requests: UInt64) {
        firstReading = firstReading == 0 ? reading.time : min(firstReading, reading.time)
        lastReading = max(lastReading, reading.time)
        guard let known = ledger else { return (ledger, self.requests) = (reading, requests) }
        if known.time == reading.time {
            ledger = reading
            ledger?.captured = max(known.captured, reading.captured)
            self.requests &+= requests
        } else if (reading.captured, reading.time) > (known.captured, known.time) {
            (ledger, self.requests) = (reading, requests)
        }
    }
}

/// Senders as rows of `sender`.
extension TableRows {
    /// - Parameters:
    ///   - writer: the number of the process that saw the sender like this.
    ///   - revision: if one process wrote two rows about a sender, the one with the higher number wins.
    mutating func append(
        _ state: SenderState, of resource: TelemetryResource, id: UInt64, writer: UInt64, revision: UInt64
    ) {
        append { row in
            row.text(resource.service)
            row.number(id)
            row.number(writer)
            row.number(revision)
            row.add(resource)
            row.number(Int64(resource.rules ?? 0))
            for time in [state.firstSeen, state.lastSeen, state.lastEnd] { row.number(Int64(clamping: time)) }
            row.number(state.kinds)
            for time in [state.firstReading, state.lastReading, state.ledger?.time ?? 0] {
                row.number(Int64(clamping: time))
            }
            let ledger = state.ledger ?? LedgerReading(time: 0)
            for number in [ledger.captured, ledger.delivered, ledger.waiting] { row.number(number) }
            row.text(DroppedText.text(of: ledger.dropped))
            for number in [state.requests, ledger.age, ledger.unwatched, ledger.agentCPU] { row.number(number) }
        }
    }
}

/// Readings of ledgers as rows of `ledger`.
extension TableRows {
    /// - Parameters:
    ///   - requests: requests in the batch that brought the reading.
    ///   - batch: 16 bytes that identify the batch.
    mutating func append(_ reading: LedgerReading, requests: UInt64, sender: UInt64, batch: [UInt8]) {
        append { row in
            row.number(UInt32(hourOf: Int64(clamping: reading.time)))
            row.number(sender)
            row.number(Int64(clamping: reading.time))
            row.fixed(batch)
            for number in [reading.captured, requests, reading.age, reading.unwatched] { row.number(number) }
        }
    }
}
