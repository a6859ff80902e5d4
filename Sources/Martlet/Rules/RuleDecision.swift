/// The changes that rules make to one request.
struct RuleDecision: Sendable {
    /// The name of the rule in force: the first with an action, else the first with header fields.
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

/// The part of a rule that decides where a request goes.
enum RuleAction: Sendable {
    /// Connects to another address.
    case connect(host: String, port: Int)
    /// Replaces scheme, host and port.
    case redirect(RuleOrigin)
    /// Gives an answer in place of the server.
    case respond(RuleAnswer)
    /// Fails without a connection.
    case fail(MartletRule.Failure)
}

/// A scheme, a host and a port.
struct RuleOrigin: Sendable {
    let scheme: String
    /// The host as a URL writes it, an IPv6 address in brackets.
    let host: String
    /// `nil` for the scheme's own.
    let port: Int?
}
