import Logging

extension Logger {
    /// Tells of a sender whose request was refused, wholly or in part.
    ///
    /// - Parameter reason: a sentence of the collector's own.
    func refusal(status: Int, reason: String, of context: CollectorRequestContext) {
        notice(
            "a sender's request was refused, at least in part",
            metadata: ["status": "\(status)", "reason": "\(reason)", "address": "\(context.remoteAddress)"])
    }
}
