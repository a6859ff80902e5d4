import Synchronization

/// The tokens of which a sender gives one. They may be replaced while the collector runs. Never logged. Safe to use from any
/// task.
package final class IngestTokens: Sendable {
    private let tokens: Mutex<[String]>

    package init(_ tokens: [String]) {
        self.tokens = Mutex(tokens)
    }

    package func replace(with tokens: [String]) {
        self.tokens.withLock { $0 = tokens }
    }

    /// Compares with every token, so that the time it takes tells nothing.
    func contain(_ given: String) -> Bool {
        let tokens = tokens.withLock(\.self)
        return tokens.reduce(false) { SecretText.isEqual(given, to: $1) || $0 }
    }
}
