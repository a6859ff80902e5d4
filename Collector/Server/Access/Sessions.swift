import MartletTelemetry
import Synchronization

/// The sessions of people who gave the read token to the page. They live in memory, so a restart of the collector ends them.
/// Safe to use from any task.
final class Sessions: Sendable {
    /// The time after which a session ends.
    private static let lifetime: UInt64 = 12 * 3_600_000_000_000
    /// Sessions at a time; the oldest makes room.
    private static let most = 1000

    private let begun = Mutex<[String: UnixNanoseconds]>([:])
    private let now: @Sendable () -> UnixNanoseconds

    init(now: @escaping @Sendable () -> UnixNanoseconds) {
        self.now = now
    }

    /// Begins a session and returns its id: 256 random bits, and nothing of the token.
    func begin() -> String {
        var random = SystemRandomNumberGenerator()
        let id = (0..<4).map { _ in String(random.next() as UInt64, radix: 16) }.joined(separator: "-")
        let time = now()
        begun.withLock { begun in
            begun = begun.filter { Self.isAlive($0.value, at: time) }
            if begun.count >= Self.most, let oldest = begun.min(by: { $0.value < $1.value }) { begun[oldest.key] = nil }
            begun[id] = time
        }
        return id
    }

    func contains(_ id: String) -> Bool {
        let time = now()
        return begun.withLock { $0[id].map { Self.isAlive($0, at: time) } ?? false }
    }

    func end(_ id: String) {
        begun.withLock { $0[id] = nil }
    }

    /// A clock that was set back makes no session older.
    private static func isAlive(_ begun: UnixNanoseconds, at time: UnixNanoseconds) -> Bool {
        time < begun || time - begun < lifetime
    }
}
