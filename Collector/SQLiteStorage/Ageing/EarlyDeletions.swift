import MartletStorage
import Synchronization

/// The number of rows that were deleted before their age since the start. Safe to use from any task.
final class EarlyDeletions: Sendable {
    private let state = Mutex((crowdedDetails: UInt64(0), shedDetails: UInt64(0), shedChunks: UInt64(0)))

    var crowdedDetails: UInt64 { state.withLock { $0.crowdedDetails } }
    var shedDetails: UInt64 { state.withLock { $0.shedDetails } }
    var shedChunks: UInt64 { state.withLock { $0.shedChunks } }

    /// Adds details that gave way to others.
    func add(crowdedDetails count: Int) { state.withLock { $0.crowdedDetails += UInt64(count) } }

    func add(_ outcome: Shedding.Outcome) {
        state.withLock {
            $0.shedDetails += UInt64(outcome.details)
            $0.shedChunks += UInt64(outcome.chunks)
        }
    }
}
