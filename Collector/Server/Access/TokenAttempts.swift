import MartletTelemetry
import Synchronization

/// Counts the wrong tokens of each address, in logins and in header fields, so that nobody tries tokens by the thousand. A
/// wrong token counts once a minute, so a sender that repeats an old one locks nobody out of its address. Safe to use from
/// any task.
final class TokenAttempts: Sendable {
    /// Wrong tokens of an address in a minute.
    static let most = 10
    private static let minute: UInt64 = 60_000_000_000
    /// Addresses that are remembered.
    private static let maxAddresses = 10_000

    private struct Wrong {
        var minute: UInt64
        /// The hash values of the tokens.
        var tokens: Set<Int> = []
    }

    private let wrong = Mutex<[String: Wrong]>([:])
    private let now: @Sendable () -> UnixNanoseconds

    init(now: @escaping @Sendable () -> UnixNanoseconds) {
        self.now = now
    }

    /// Returns whether the address may try a token.
    func allow(_ address: String) -> Bool {
        let minute = now() / Self.minute
        return wrong.withLock { wrong in
            guard let known = wrong[address], known.minute == minute else { return true }
            return known.tokens.count < Self.most
        }
    }

    /// Counts a wrong token.
    func add(_ token: String, of address: String) {
        let minute = now() / Self.minute
        wrong.withLock { wrong in
            if wrong.count >= Self.maxAddresses { wrong = wrong.filter { $0.value.minute == minute } }
            if wrong.count >= Self.maxAddresses { wrong = [:] }
            var known = wrong[address] ?? Wrong(minute: minute)
            if known.minute != minute { known = Wrong(minute: minute) }
            known.tokens.insert(token.hashValue)
            wrong[address] = known
        }
    }
}
