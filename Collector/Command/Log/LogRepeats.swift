import Logging
import Synchronization

/// The events that the log has told lately. The same event is told once a minute, however often it occurs: a sender that is
/// refused with each batch, or a disk that stays full, fills no log. Safe to use from any task.
final class LogRepeats: Sendable {
    static let period = Duration.seconds(60)
    /// Events that are told apart.
    private static let most = 1000

    private struct Event {
        var told: ContinuousClock.Instant
        var left = 0
    }

    private let events = Mutex<[String: Event]>([:])

    /// Returns the number of events that were left out since the last one that was told; `nil` if this one is left out as
    /// well.
    ///
    /// - Parameter event: equal for events that are the same to a reader.
    func admit(_ event: String, at time: ContinuousClock.Instant = .now) -> Int? {
        events.withLock { events in
            if let known = events[event], time - known.told < Self.period {
                events[event]?.left += 1
                return nil
            }
            if events.count >= Self.most { events = events.filter { time - $0.value.told < Self.period } }
            if events.count >= Self.most { events = [:] }
            return events.updateValue(Event(told: time), forKey: event)?.left ?? 0
        }
    }
}
