import Foundation
import MartletTelemetry

/// The state of shipping, for `status` and for the ledger.
struct ShippingStatus: Sendable {
    /// The account of this instance, as its outbox has it.
    var account = OutboxAccount()
    var bufferedBytes = 0
    /// Bytes of the journal's segments that are not in files.
    var journalBytes = 0
    /// Bytes of the batches that wait in memory.
    var memoryBatchBytes = 0
    /// Bytes of the batch that is being encoded and is not stored yet.
    var encodingBytes = 0
    /// Bytes of the sums of cumulative streams.
    var sumsBytes = 0
    /// The reason why a killed process would lose its last interval; `nil` if it would not.
    var journalError: String?
    /// CPU time of the agent's thread without the service's closures, in nanoseconds.
    var threadCPU: UInt64 = 0
    var bufferDirectory: URL?
    /// Requests of earlier processes that wait for another address, or with other credentials.
    var waitingElsewhere: UInt64 = 0
    /// The transport of uploads; `nil` until it is chosen.
    var transport: MartletConfiguration.Transport?
    var lastUpload: Date?
    var lastCollector: URL?
    /// The reason why the last attempt failed or was refused; `nil` after a success.
    var uploadError: String?
    /// The reason why batches cannot be stored; `nil` while they can.
    var bufferError: String?

    /// An estimate of the memory that shipping holds, in bytes.
    var heldBytes: Int { journalBytes + memoryBatchBytes + encodingBytes + sumsBytes }

    /// `captured = delivered + waiting + dropped`, by construction.
    func ledger(captured: UInt64) -> Ledger { account.ledger(captured: captured) }
}
