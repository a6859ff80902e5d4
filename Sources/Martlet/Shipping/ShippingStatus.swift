import Foundation
import MartletTelemetry
import Synchronization

/// The state of shipping, for `status` and for the ledger.
struct ShippingStatus: Sendable {
    /// The account of this instance, as in its outbox.
    var account = OutboxAccount()
    var bufferedBytes = 0
    /// Bytes of the journal's segments that are not in files.
    var journalBytes = 0
    /// Bytes of the batches that wait in memory.
    var memoryBatchBytes = 0
    /// Bytes of the batch that is being encoded or not yet stored.
    var encodingBytes = 0
    /// Bytes of the sums of cumulative streams.
    var sumsBytes = 0
    /// Why the last interval would be lost if the process were killed; `nil` if it would not be lost.
    var journalError: String?
    /// CPU time of the agent's thread without the service's closures, in nanoseconds.
    var threadCPU: UInt64 = 0
    var bufferDirectory: URL?
    /// Requests of earlier processes that wait for another address, or need other credentials.
    var waitingElsewhere: UInt64 = 0
    /// The transport of uploads; `nil` until it is chosen.
    var transport: MartletConfiguration.Transport?
    var lastUpload: Date?
    var lastCollector: URL?
    /// Why the last attempt failed or was refused; `nil` after a success.
    var uploadError: String?
    /// Why batches cannot be stored; `nil` while they can.
    var bufferError: String?

    /// An estimate of the memory that shipping holds, in bytes.
    var heldBytes: Int { journalBytes + memoryBatchBytes + encodingBytes + sumsBytes }

    /// `captured = delivered + waiting + dropped`, by construction.
    func ledger(captured: UInt64) -> Ledger { account.ledger(captured: captured) }
}

/// The status of shipping. Its parts write it and any thread reads it. Thread-safe.
final class StatusBoard: Sendable {
    private let state = Lock(State())
    private let heldByOthers: @Sendable () -> Int

    private struct State {
        var status = ShippingStatus()
        /// The most memory that the agent held since the last ``takeMostMemory()``, in bytes.
        var mostMemory = 0
    }

    /// - Parameter heldByOthers: returns the memory that the agent's other parts hold now, in bytes.
    init(heldByOthers: @escaping @Sendable () -> Int) {
        self.heldByOthers = heldByOthers
    }

    var status: ShippingStatus { state.withLock(\.status) }

    func update(_ change: (inout ShippingStatus) -> Void) { state.withLock { change(&$0.status) } }

    /// Notes the temporary memory that encoding holds in addition to the values that it encodes, in bytes.
    func noteEncoding(_ bytes: Int) {
        update { $0.encodingBytes = bytes }
        let others = heldByOthers()
        state.withLock { $0.mostMemory = max($0.mostMemory, others + $0.status.heldBytes) }
    }

    /// Returns the most memory that the agent has held since the last call, in bytes.
    func takeMostMemory() -> Int {
        let others = heldByOthers()
        return state.withLock { state in
            defer { state.mostMemory = 0 }
            return max(state.mostMemory, others + state.status.heldBytes)
        }
    }
}

/// The milestones of a batch, in their order. A process may die between any two of them. docs/internals/buffer.md describes the
/// state of the disk at each, and what the next owner does.
package enum ShippingMilestone: String, CaseIterable {
    /// The segments of the interval are closed; there is no batch of them yet.
    case closed
    /// The batch is in the outbox, and its segments are still there.
    case stored
    /// The segments are gone.
    case released
    /// The batch is marked as sent, but nothing has been sent yet.
    case marked
    /// The collector has answered.
    case answered
    /// The account includes the batch, and its file still exists.
    case settled
    /// The file is gone.
    case removed

    /// Called at each milestone. Tests use it to kill the process there; nothing else does.
    package static let listener = ProcessLock<(@Sendable (ShippingMilestone) -> Void)?>(nil)

    func reach() {
        let listener = Self.listener.withLock { $0 }
        listener?(self)
    }
}
