import MartletPoints
import MartletStorage
import MartletTelemetry

/// A sender as one process has seen it.
struct SenderState {
    var firstSeen: UnixNanoseconds
    var lastSeen: UnixNanoseconds
    var lastEnd: UnixNanoseconds = 0
    /// A bit for each ``StatisticsBit`` that was reported.
    var kinds: UInt8 = 0
    var firstReading: UnixNanoseconds = 0
    var lastReading: UnixNanoseconds = 0
    /// The reading with the most captured requests.
    var ledger: LedgerReading?
    /// Requests in the batches of that reading.
    var requests: UInt64 = 0

    /// Takes note of a reading. Two readings of the same time become one: the later account, with the sum of their requests.
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
    ///   - writer: the number of the process that has seen the sender so.
    ///   - revision: of two rows of a process the one with the greater number holds.
    mutating func append(
        _ state: SenderState, of resource: TelemetryResource, id: UInt64, writer: UInt64, revision: UInt64
    ) {
        append { row in
            row.text(resource.service)
            row.number(id)
            row.number(writer)
            row.number(revision)
            for text in [
                resource.version, resource.environment, resource.instance, resource.host, resource.captureMode,
                resource.captureReason, resource.agent, resource.runtime,
            ] { row.text(text) }
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
