import MartletOTLP
import MartletPoints
import MartletTelemetry

extension LedgerReading {
    /// The reason of a loss without a reason, and of losses whose reasons are too many to keep.
    static let otherReason = "other"

    /// The ledger in `martlet.agent.requests`; `nil` if the metric has no point or no valid time. States of a newer agent
    /// are skipped. Its reasons are kept, so that captured = delivered + waiting + dropped holds as in the agent.
    init?(_ sum: OTLPSum) {
        guard let time = sum.dataPoints.map(\.timeUnixNano).max(), time <= UInt64(Int64.max) else { return nil }
        let start = sum.dataPoints.map(\.startTimeUnixNano).max() ?? 0
        self.init(time: time, age: start > 0 ? time - min(start, time) : 0)
        for point in sum.dataPoints where point.timeUnixNano == time {
            let requests = UInt64(clamping: point.asInt)
            switch point.attributes.text(AttributeName.ledgerState) {
            case LedgerState.captured?: captured = requests
            case LedgerState.delivered?: delivered = requests
            case LedgerState.waiting?: waiting = requests
            case LedgerState.dropped?: drop(requests, point.attributes.text(AttributeName.ledgerReason))
            default: break
            }
        }
    }

    /// Takes a time since the instance's start from one of the agent's own metrics, which is in seconds.
    mutating func note(_ time: WritableKeyPath<Self, UInt64>, _ sum: OTLPSum) {
        let seconds = sum.dataPoints.map(\.asDouble).max() ?? 0
        guard seconds > 0 else { return }
        self[keyPath: time] = UInt64(min(seconds * 1e9, Double(Int64.max / 2)))
    }

    private mutating func drop(_ requests: UInt64, _ reason: String?) {
        let name = reason?.cut(toBytes: IntakeLimits.dropReasonBytes) ?? Self.otherReason
        let isKept = dropped[name] != nil || dropped.count < IntakeLimits.maxDropReasons
        dropped[isKept ? name : Self.otherReason, default: 0] &+= requests
    }
}
