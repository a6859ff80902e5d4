import Foundation

/// Rules that were checked as a whole. A pure value.
struct RuleSet: Sendable {
    private var rules: [CheckedRule] = []

    init() {}

    /// - Throws: the first mistake.
    init(_ rules: [MartletRule]) throws(RuleMistake) {
        for (index, rule) in rules.enumerated() { self.rules.append(try CheckedRule(rule, number: index + 1)) }
    }

    var count: Int { rules.count }

    var names: [String] { rules.map(\.name) }

    /// Returns the changes to a request; `nil` for none. The first matching rule with an action or a delay is in force, and the
    /// header fields of it and of the rules ahead of it add up.
    ///
    /// - Parameters:
    ///   - field: looks a header field of the request up by its name.
    ///   - draw: returns a random number, 0..<1, for a rule's share.
    func decision(
        for target: RequestTarget, method: String, field: (String) -> String?,
        draw: () -> Double = { Double.random(in: 0..<1) }
    ) -> RuleDecision? {
        var (headers, inForce, first): ([RuleDecision.HeaderChange], CheckedRule?, CheckedRule?) = ([], nil, nil)
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
