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
