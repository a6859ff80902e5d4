import Synchronization

/// The milestones on a batch's way, in their order. A process may die between any two of them: docs/buffer.md has the state
/// of the disk at each, and the work of the next owner.
package enum ShippingMilestone: String, CaseIterable {
    /// The segments of the interval are closed; no batch stands for them yet.
    case closed
    /// The batch is in the outbox, and its segments are still there.
    case stored
    /// The segments are gone.
    case released
    /// The batch is marked as sent, and nothing has been sent.
    case marked
    /// The collector has answered.
    case answered
    /// The account has the batch, and its file still exists.
    case settled
    /// The file is gone.
    case removed

    /// The function that is called at each milestone: tests let the process die there. Nothing else listens.
    package static let listener = ProcessLock<(@Sendable (ShippingMilestone) -> Void)?>(nil)

    func reach() {
        let listener = Self.listener.withLock { $0 }
        listener?(self)
    }
}
