import Foundation
import MartletTelemetry
import Synchronization

/// The time that retention uses. It follows the collector's clock, which may be wrong: after a boot it may be years ahead until
/// it is set, and all data would then seem to have expired.
///
/// After a jump, the new time is believed on two conditions: the clock has run on for ``patience``, and most senders seen in
/// that time are closer to the new time than to the time before the jump. Until then retention uses the earlier of the two
/// times, so a wrong clock deletes nothing. A collector that was off for a month also sees a jump. Its senders agree with the
/// clock after the start, even if their own clocks are wrong by some hours. Pure.
package struct RetentionClock: Sendable, Equatable {
    /// The largest number of senders that are counted.
    static let maxSenders = 1_000

    /// The largest step of the clock that is not a jump, and how long the clock has to run on after a jump, in nanoseconds.
    private let patience: Int64
    /// The latest believed time, in nanoseconds since 1970.
    package private(set) var believed: Int64
    private var now: Int64
    private var pendingJump: Jump?

    private struct Jump: Equatable {
        /// The clock just after the jump.
        let start: Int64
        /// Whether each sender's latest figures were closer to the clock than to the time before the jump.
        var agreements: [Int64: Bool] = [:]

        var isConfirmed: Bool {
            agreements.values.count { $0 } * 2 > agreements.count
        }
    }

    /// - Parameter believed: the time that retention used when the collector stopped.
    package init(believed: Int64, patience: Int64) {
        self.believed = believed
        self.patience = patience
        now = believed
    }

    /// Whether the clock is believed.
    package var isBelieved: Bool { pendingJump == nil }

    /// The time that retention uses.
    package var time: Int64 { min(believed, now) }

    /// The distance between the clock and the time believed before the jump; 0 if the clock is believed.
    package var jumped: Int64 { pendingJump == nil ? 0 : now - believed }

    /// Records the clock. The caller does so every few seconds.
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

    /// Records a batch.
    ///
    /// - Parameters:
    ///   - sender: the number that identifies the sender.
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
        /// `nil` until the first maintenance of a new store, which has nothing to lose.
        var clock: RetentionClock?
        var saved: Int64
    }

    /// The interval at which the believed time is saved, in nanoseconds.
    private static let savedEvery: Int64 = 60_000_000_000

    private let patience: Int64
    private let state: Mutex<State>

    /// - Parameters:
    ///   - believed: the last time that retention used; `nil` for a new store.
    ///   - patience: see ``RetentionClock/init(believed:patience:)``, in nanoseconds.
    package init(believed: Int64?, patience: UnixNanoseconds) {
        let patience = Int64(clamping: patience)
        self.patience = patience
        state = Mutex(
            State(clock: believed.map { RetentionClock(believed: $0, patience: patience) }, saved: believed ?? 0))
    }

    /// Records the collector's clock, and returns the clock of retention.
    @discardableResult package func advance(to now: UnixNanoseconds) -> RetentionClock {
        state.withLock { state in
            let now = Int64(clamping: now)
            var clock = state.clock ?? RetentionClock(believed: now, patience: patience)
            clock.advance(to: now)
            state.clock = clock
            return clock
        }
    }

    /// Returns the time from which ages are measured while a batch is stored.
    package func time(at now: UnixNanoseconds) -> Int64 {
        state.withLock { min($0.clock?.time ?? .max, Int64(clamping: now)) }
    }

    /// See ``RetentionClock/hear(from:until:)``.
    package func hear(from sender: Int64, until end: UnixNanoseconds) {
        state.withLock { $0.clock?.hear(from: sender, until: Int64(clamping: end)) }
    }

    /// The distance of the clock's jump, in nanoseconds; 0 if the clock is believed.
    package var jumped: Int64 { state.withLock { $0.clock?.jumped ?? 0 } }

    /// Returns the believed time if it has to be saved.
    package func timeToSave() -> Int64? {
        state.withLock { state in
            guard let time = state.clock?.believed, abs(time - state.saved) >= Self.savedEvery else { return nil }
            state.saved = time
            return time
        }
    }
}

/// The system's clock.
package enum SystemClock {
    package static let now: @Sendable () -> UnixNanoseconds = {
        UnixNanoseconds(max(0, Date().timeIntervalSince1970) * 1e9)
    }
}
