import Foundation
import Synchronization

/// Rules that were validated as a whole. A pure value.
struct RuleSet: Sendable {
    private var rules: [ValidatedRule] = []

    init() {}

    /// - Throws: the first error.
    init(_ rules: [MartletRule]) throws(RuleError) {
        for (index, rule) in rules.enumerated() { self.rules.append(try ValidatedRule(rule, number: index + 1)) }
    }

    var count: Int { rules.count }

    var names: [String] { rules.map(\.name) }

    /// Returns the changes to a request; `nil` for none. Of the matching rules with an action or a delay, only the
    /// first applies. All matching rules that only change header fields apply too.
    ///
    /// - Parameters:
    ///   - field: looks up a header field of the request by name.
    ///   - draw: returns a random number, 0..<1, for a rule's share.
    func decision(
        for target: RequestTarget, method: String, field: (String) -> String?,
        draw: () -> Double = { Double.random(in: 0..<1) }
    ) -> RuleDecision? {
        var (headers, inForce, first): ([RuleDecision.HeaderChange], ValidatedRule?, ValidatedRule?) = ([], nil, nil)
        for rule in rules where inForce == nil || !rule.decides {
            guard rule.match.holds(for: target, method: method, field: field) else { continue }
            guard rule.match.share >= 1 || draw() < rule.match.share else { continue }
            headers += rule.headers
            first = first ?? rule
            if rule.decides { inForce = rule }
        }
        guard let named = inForce ?? first else { return nil }
        return RuleDecision(name: named.name, headers: headers, action: named.action, delay: named.delay)
    }
}

/// The rules that apply to an agent's requests. Thread-safe.
final class ActiveRules: Sendable {
    private let number = Atomic<Int>(0)
    private let rules = Lock(RuleSet())
    /// The same rules, readable without a lock. A forked child needs them, because it must not wait for a lock that its parent
    /// held.
    private let published = Atomic<Unmanaged<Published>?>(nil)

    private final class Published: Sendable {
        let rules: RuleSet

        init(_ rules: RuleSet) {
            self.rules = rules
        }
    }

    init() {}

    /// Begins with the rules of a forked child's parent. Takes no lock that the parent may hold.
    init(forkedFrom parent: ActiveRules) {
        if let known = parent.published.load(ordering: .acquiring) { replace(by: known.takeUnretainedValue().rules) }
    }

    deinit { published.load(ordering: .acquiring)?.release() }

    /// The number of rules that apply. While it is 0, requests need not be compared with any.
    var count: Int { number.load(ordering: .relaxed) }

    /// Replaces the rules. Requests in flight keep theirs.
    func replace(by new: RuleSet) {
        rules.withLock { $0 = new }
        // The old ones are released after the new ones are stored, because a fork may happen in between.
        published.exchange(.passRetained(Published(new)), ordering: .acquiringAndReleasing)?.release()
        number.store(new.count, ordering: .relaxed)
    }

    /// Returns the changes to a request that is about to start; `nil` for none.
    ///
    /// - Parameter field: looks up a header field of the request by name.
    func decision(
        for target: RequestTarget, method: String, field: (String) -> String?
    ) -> RuleDecision? {
        guard count > 0 else { return nil }
        return rules.withLock { $0 }.decision(for: target, method: method, field: field)
    }
}
