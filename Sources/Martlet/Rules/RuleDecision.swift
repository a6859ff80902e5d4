/// The changes that rules make to one request.
struct RuleDecision: Sendable {
    /// The name of the rule in force: the first with an action or a delay, else the first with header fields.
    let name: String
    let headers: [HeaderChange]
    let action: RuleAction?
    let delay: Duration

    /// A change of one header field.
    struct HeaderChange: Sendable {
        let name: String
        /// `nil` removes the field.
        let value: String?
    }
}
