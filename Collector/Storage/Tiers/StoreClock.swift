import MartletTelemetry
import Synchronization

/// The store's ``RetentionClock``. Safe to use from any task.
package final class StoreClock: Sendable {
    private struct State {
        /// `nil` until a new store is maintained for the first time: it has nothing to lose.
        var clock: RetentionClock?
        var saved: Int64
    }

    /// The time after which the believed time is saved again, in nanoseconds.
    private static let savedEvery: Int64 = 60_000_000_000

    private let patience: Int64
    private let state: Mutex<State>

    /// - Parameters:
    ///   - believed: the time that retention went by at last; `nil` for a new store.
    ///   - patience: see ``RetentionClock/init(believed:patience:)``, in nanoseconds.
    package init(believed: Int64?, patience: UnixNanoseconds) {
        let patience = Int64(clamping: patience)
        self.patience = patience
        state = Mutex(
            State(clock: believed.map { RetentionClock(believed: $0, patience: patience) }, saved: believed ?? 0))
    }

    /// Takes note of the collector's clock, and returns the clock of retention.
    @discardableResult package func advance(to now: UnixNanoseconds) -> RetentionClock {
        state.withLock { state in
            let now = Int64(clamping: now)
            var clock = state.clock ?? RetentionClock(believed: now, patience: patience)
            clock.advance(to: now)
            state.clock = clock
            return clock
        }
    }

    /// Returns the time that ages are counted from while a batch is stored.
    package func time(at now: UnixNanoseconds) -> Int64 {
        state.withLock { min($0.clock?.time ?? .max, Int64(clamping: now)) }
    }

    /// See ``RetentionClock/hear(from:until:)``.
    package func hear(from sender: Int64, until end: UnixNanoseconds) {
        state.withLock { $0.clock?.hear(from: sender, until: Int64(clamping: end)) }
    }

    /// The distance in nanoseconds by which the clock jumped; 0 if it is believed.
    package var jumped: Int64 { state.withLock { $0.clock?.jumped ?? 0 } }

    /// Returns the believed time if it is to be saved.
    package func timeToSave() -> Int64? {
        state.withLock { state in
            guard let time = state.clock?.believed, abs(time - state.saved) >= Self.savedEvery else { return nil }
            state.saved = time
            return time
        }
    }
}
