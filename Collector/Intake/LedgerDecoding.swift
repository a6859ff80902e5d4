import MartletOTLP
import MartletTelemetry

extension LedgerReading {
    /// The account that `martlet.agent.requests` gives; `nil` when it has no point. States and reasons of a newer agent
    /// are passed over.
    init?(_ sum: OTLPSum) {
        guard let time = sum.dataPoints.map(\.timeUnixNano).max(), time <= UInt64(Int64.max) else { return nil }
        var ledger = Ledger()
        for point in sum.dataPoints {
            let requests = UInt64(clamping: point.asInt)
            switch point.attributes.text(AttributeName.ledgerState) {
            case LedgerState.captured?: ledger.captured = requests
            case LedgerState.delivered?: ledger.delivered = requests
            case LedgerState.waiting?: ledger.waiting = requests
            case LedgerState.dropped?:
                let reason = point.attributes.text(AttributeName.ledgerReason).flatMap(DropReason.init)
                if let reason { ledger.dropped[reason] = requests }
            default: break
            }
        }
        self.init(time: time, ledger: ledger)
    }
}
