/// The check of a token that a request gives. Wrong ones are throttled by address (``TokenAttempts``), and a right one makes its
/// connection more than a newcomer.
///
/// A connection that has shown a right token is not throttled: the clients behind one balancer or one translated address are
/// not shut out by a guesser among them.
struct TokenGate: Sendable {
    enum Verdict {
        case right
        case wrong
        /// Too many tokens of the address were wrong, so this one was not looked at.
        case notNow
    }

    static let tooManyWrong = "too many tokens from this address were wrong; try again in a minute"
    /// The time after which an address may try again, in seconds.
    static let waitSeconds = 60

    let attempts: TokenAttempts
    let newcomers: Newcomers

    /// - Parameter isRight: compares the token.
    func verdict(on token: String, of context: CollectorRequestContext, isRight: (String) -> Bool) -> Verdict {
        let address = context.remoteAddress
        guard !newcomers.contains(context.channel) || attempts.allow(address) else { return .notNow }
        guard isRight(token) else {
            attempts.add(token, of: address)
            return .wrong
        }
        newcomers.admit(context.channel)
        return .right
    }
}
