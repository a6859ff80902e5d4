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

    /// Whether another login of the address is looked at.
    func admits(_ address: String) -> Bool {
        let minute = now() / Self.minute
        return counts.withLock { counts in
            guard let count = counts[address], count.minute == minute else { return true }
            return count.refused < Self.most
        }
    }

    func noteRefusal(of address: String) {
        let minute = now() / Self.minute
        counts.withLock { counts in
            if counts.count >= Self.maxAddresses { counts = counts.filter { $0.value.minute == minute } }
            if counts.count >= Self.maxAddresses { counts = [:] }
            var count = counts[address] ?? Count(minute: minute, refused: 0)
            if count.minute != minute { count = Count(minute: minute, refused: 0) }
            count.refused += 1
            counts[address] = count
        }
    }
}
