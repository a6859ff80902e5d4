import Synchronization

/// The rules that are in force for an agent's requests. Thread-safe.
final class ActiveRules: Sendable {
    private let number = Atomic<Int>(0)
    private let rules = Lock(RuleSet())

    /// The number of rules in force. While it is 0, no request has to be compared with any.
    var count: Int { number.load(ordering: .relaxed) }

    /// Puts other rules in force. Requests under way keep theirs.
    func replace(by new: RuleSet) {
        rules.withLock { $0 = new }
        number.store(new.count, ordering: .relaxed)
    }

    /// Returns the changes to a request that is about to start; `nil` for none.
    ///
    /// - Parameter field: looks a header field of the request up by its name.
    func decision(
        for target: RequestTarget, method: String, field: (String) -> String?
    ) -> RuleDecision? {
        guard count > 0 else { return nil }
        return rules.withLock { $0 }.decision(for: target, method: method, field: field)
    }
}
