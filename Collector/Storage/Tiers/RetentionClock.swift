import MartletTelemetry
import Synchronization

/// The time that retention goes by. It is the collector's clock, which may be wrong: after a boot it may be years ahead until
/// it is set, and everything would be past its age.
///
/// A clock that has jumped is believed once it has run on for ``patience``, and most senders that were heard of in that time
/// have clocks that are nearer to it than to the time before the jump. Until then retention goes by the earlier of the two
/// times, so a wrong clock deletes nothing. A collector that was off for a month is a jump as well: its senders agree with
/// the clock after the start, however wrong their own clocks are by some hours. Pure.
package struct RetentionClock: Sendable, Equatable {
    /// Senders that are counted at most.
    static let maxSenders = 1_000

    /// The longest step of the clock that is no jump, and the time for which it has to run on after a jump, in nanoseconds.
    private let patience: Int64
    /// The latest time that was believed, in nanoseconds since 1970.
    package private(set) var believed: Int64
    private var now: Int64
    private var pendingJump: Jump?

    private struct Jump: Equatable {
        /// The clock after it jumped.
        let start: Int64
        /// Whether the latest figures of each sender were nearer to the clock than to the time before.
        var agreements: [Int64: Bool] = [:]

        var isConfirmed: Bool {
            agreements.values.count { $0 } * 2 > agreements.count
        }
    }

    /// - Parameter believed: the time that retention went by when the collector stopped.
    package init(believed: Int64, patience: Int64) {
        self.believed = believed
        self.patience = patience
        now = believed
    }

    /// Whether the clock is believed.
    package var isBelieved: Bool { pendingJump == nil }

    /// The time that retention goes by.
    package var time: Int64 { min(believed, now) }

    /// The distance of the clock from the time that was believed before it jumped; 0 if the clock is believed.
    package var jumped: Int64 { pendingJump == nil ? 0 : now - believed }

    /// Takes note of the clock. The caller does so every few seconds.
    package mutating func advance(to now: Int64) {
        let isSteady = isNear(now, to: self.now)
        self.now = now
        guard !isNear(now, to: believed) else { return believe() }
        guard isSteady, let pendingJump else {
            pendingJump = Jump(start: now)
            return
        }
        if now - pendingJump.start >= patience, pendingJump.isConfirmed { believe() }
    }

    /// Takes note of a batch.
    ///
    /// - Parameters:
    ///   - sender: a number of the sender.
    ///   - end: the latest time in the batch, by the sender's clock.
    package mutating func hear(from sender: Int64, until end: Int64) {
        guard pendingJump != nil, end > 0,
            pendingJump?.agreements[sender] != nil || (pendingJump?.agreements.count ?? 0) < Self.maxSenders
        else { return }
        pendingJump?.agreements[sender] = Self.distance(end, now) < Self.distance(end, believed)
    }

    private mutating func believe() {
        believed = now
        pendingJump = nil
    }

    private func isNear(_ time: Int64, to other: Int64) -> Bool { Self.distance(time, other) <= UInt64(patience) }

    private static func distance(_ one: Int64, _ other: Int64) -> UInt64 {
        one > other ? UInt64(bitPattern: one &- other) : UInt64(bitPattern: other &- one)
    }
}

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
