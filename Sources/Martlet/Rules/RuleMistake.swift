/// The first mistake in a set of rules, for a line of the log.
struct RuleMistake: Error, CustomStringConvertible {
    /// The rule and the key: `rule 2, match.share`; empty where the text is no JSON5.
    let place: String
    let reason: String

    /// - Parameters:
    ///   - rule: the rule's number, from 1.
    ///   - key: the key within the rule.
    init(rule: Int, key: String, _ reason: String) {
        self.init(place: "rule \(rule), \(key)", reason)
    }

    init(place: String, _ reason: String) {
        self.place = place
        self.reason = reason
    }

    var description: String { (place.isEmpty ? reason : "\(place): \(reason)").printable(upTo: 500) }
}
