extension Report {
    /// A sentence about requests that rules changed, so that nobody takes a drill for an outage; `nil` without any, and where
    /// the rows name the rules.
    package var changedByRules: String? {
        guard let changed = totals.measures.changedByRules, !by.contains(.rule) else { return nil }
        let word = changed == totals.measures.count ? "all" : FigureText.grouped(changed)
        return "\(word) of these requests were changed by rules of their services; --by rule names them"
    }
}
