import Foundation
import MartletTelemetry

/// What shipping knows of itself, for `status` and for the ledger.
struct ShippingAccount: Sendable {
    /// Requests of this instance.
    var delivered: UInt64 = 0
    var dropped: [DropReason: UInt64] = [:]
    /// In this instance's files.
    var stored: UInt64 = 0
    var bufferedBytes = 0
    /// Of the journal's segments.
    var journalBytes = 0
    /// CPU time of the agent's thread, in nanoseconds.
    var threadCPU: UInt64 = 0
    var bufferDirectory: URL?
    var lastUpload: Date?
    /// Of the last attempt; `nil` after a success.
    var uploadError: String?
    /// Why batches cannot be stored; `nil` while they can.
    var bufferError: String?

    mutating func store(_ requests: UInt64) { stored &+= requests }

    mutating func deliver(_ requests: UInt64) {
        delivered &+= requests
        take(requests)
    }

    mutating func drop(_ requests: UInt64, _ reason: DropReason, wasStored: Bool = true) {
        guard requests > 0 else { return }
        dropped[reason, default: 0] &+= requests
        if wasStored { take(requests) }
    }

    /// Counts what was stored and is there no more: another instance made room with it, or somebody removed it.
    mutating func dropStored(exceptIn batches: [BatchFile]) {
        let present = batches.reduce(0) { $0 &+ $1.requests }
        if stored > present { drop(stored - present, .gone) }
    }

    private mutating func take(_ requests: UInt64) { stored = stored > requests ? stored - requests : 0 }

    /// `captured = delivered + waiting + dropped`, by construction.
    func ledger(captured: UInt64) -> Ledger {
        let settled = dropped.values.reduce(delivered, &+)
        return Ledger(
            captured: captured, delivered: delivered, waiting: captured >= settled ? captured - settled : 0,
            dropped: dropped)
    }
}
