import Foundation
import Martlet
import Synchronization

/// The end of the process: it is killed when shipping reaches a step for the n-th time, written `stored:2`.
struct Death {
    let step: ShippingStep
    let occurrence: Int

    init?(_ text: String) {
        let parts = text.split(separator: ":")
        guard parts.count == 2, let step = ShippingStep(rawValue: String(parts[0])), let occurrence = Int(parts[1])
        else { return nil }
        self.step = step
        self.occurrence = occurrence
    }

    /// Lets the process be killed at the step.
    func arm() {
        let reached = Atomic<Int>(0)
        ShippingStep.listener.withLock { listener in
            listener = { step in
                guard step == self.step, reached.add(1, ordering: .relaxed).newValue == occurrence else {
                    return
                }
                kill(getpid(), SIGKILL)
            }
        }
    }
}
