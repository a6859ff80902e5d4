import MartletTelemetry
import Synchronization

/// Counts refused logins, so that nobody tries tokens by the thousand. Safe to use from any task.
final class LoginAttempts: Sendable {
    /// Refused logins of an address in a minute.
    static let most = 10
    private static let minute: UInt64 = 60_000_000_000
    /// Addresses that are remembered.
    private static let maxAddresses = 10_000

    private struct Count {
        var minute: UInt64
        var refused: Int
    }

    private let counts = Mutex<[String: Count]>([:])
    private let now: @Sendable () -> UnixNanoseconds

    init(now: @escaping @Sendable () -> UnixNanoseconds) {
        self.now = now
    }

    /// Counts an attempt, unless the address has made too many that were refused.
    func take(_ address: String) -> Bool {
        let minute = now() / Self.minute
        return counts.withLock { counts in
            if counts.count >= Self.maxAddresses { counts = counts.filter { $0.value.minute == minute } }
            if counts.count >= Self.maxAddresses { counts = [:] }
            var count = counts[address] ?? Count(minute: minute, refused: 0)
            if count.minute != minute { count = Count(minute: minute, refused: 0) }
            guard count.refused < Self.most else { return false }
            count.refused += 1
            counts[address] = count
            return true
        }
    }

    /// Takes back an attempt that was not refused.
    func giveBack(_ address: String) {
        counts.withLock { counts in
            if let refused = counts[address]?.refused, refused > 0 { counts[address]?.refused = refused - 1 }
        }
    }
}
