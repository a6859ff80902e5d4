import Foundation
import MartletTelemetry

/// What shipping knows of itself, for `status` and for the ledger.
struct ShippingAccount: Sendable {
    /// Requests of this instance.
    var delivered: UInt64 = 0
    var dropped: [DropReason: UInt64] = [:]
    var bufferedBytes = 0
    var bufferDirectory: URL?
    var lastUpload: Date?
    /// Of the last attempt; `nil` after a success.
    var uploadError: String?
    /// Why batches cannot be stored; `nil` while they can.
    var bufferError: String?

    /// `captured = delivered + waiting + dropped`, by construction.
    func ledger(captured: UInt64) -> Ledger {
        let settled = dropped.values.reduce(delivered, &+)
        return Ledger(
            captured: captured, delivered: delivered, waiting: captured >= settled ? captured - settled : 0,
            dropped: dropped)
    }
}
