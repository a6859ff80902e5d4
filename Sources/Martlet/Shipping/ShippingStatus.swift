import Foundation
import MartletTelemetry

/// What shipping knows of itself, for `status` and for the ledger.
struct ShippingStatus: Sendable {
    /// Of this instance, as its outbox has it.
    var account = OutboxAccount()
    var bufferedBytes = 0
    /// Of the journal's segments that are no files.
    var journalBytes = 0
    /// The size of the batches that wait in memory.
    var memoryBatchBytes = 0
    /// Bytes of the batch that is being encoded and has no place yet.
    var encodingBytes = 0
    /// Why a killed process would lose its last interval; `nil` where it would not.
    var journalError: String?
    /// CPU time of the agent's thread, in nanoseconds.
    var threadCPU: UInt64 = 0
    var bufferDirectory: URL?
    /// Requests of earlier processes that wait for another address, or with other credentials.
    var waitingElsewhere: UInt64 = 0
    /// The way that uploads take; `nil` before that is settled.
    var transport: MartletConfiguration.Transport?
    var lastUpload: Date?
    /// Of the last attempt; `nil` after a success.
    var uploadError: String?
    /// Why batches cannot be stored; `nil` while they can.
    var bufferError: String?

    /// An estimate of the memory that shipping holds, in bytes.
    var heldBytes: Int { journalBytes + memoryBatchBytes + encodingBytes }

    /// `captured = delivered + waiting + dropped`, by construction.
    func ledger(captured: UInt64) -> Ledger { account.ledger(captured: captured) }
}
