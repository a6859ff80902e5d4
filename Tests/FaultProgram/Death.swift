import Foundation
import Martlet
import Synchronization

/// The end of the process: it is killed when shipping reaches a milestone for the n-th time, written `stored:2`.
struct Death {
    let milestone: ShippingMilestone
    let occurrence: Int

    init?(_ text: String) {
        let parts = text.split(separator: ":")
        guard parts.count == 2, let milestone = ShippingMilestone(rawValue: String(parts[0])),
            let occurrence = Int(parts[1])
        else { return nil }
        self.milestone = milestone
        self.occurrence = occurrence
    }

    /// Lets the process be killed at the milestone.
    func arm() {
        let reached = Atomic<Int>(0)
        ShippingMilestone.listener.withLock { listener in
            listener = { milestone in
                guard milestone == self.milestone, reached.add(1, ordering: .relaxed).newValue == occurrence else {
                    return
                }
                kill(getpid(), SIGKILL)
            }
        }
    }
}
