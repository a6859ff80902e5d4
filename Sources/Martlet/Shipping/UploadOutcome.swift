import Foundation

/// What becomes of a batch after an attempt to upload it.
enum UploadOutcome: Equatable {
    case delivered
    /// Keep it and try again, not before the collector's own wish.
    case retry(after: Duration?, reason: String)
    /// It will never be taken: drop it.
    case rejected(reason: String)

    /// As the OTLP specification has it (OTLP/HTTP Response): 429, 502, 503 and 504 are retried, every other failure is
    /// final.
    init(status: Int, retryAfter: Duration?, message: String) {
        let said = message.printable(upTo: MartletLimits.reasonLength)
        let reason = said.isEmpty ? "status \(status)" : "status \(status): \(said)"
        self =
            switch status {
            case 200..<300: .delivered
            case 429, 502, 503, 504: .retry(after: retryAfter, reason: reason)
            default: .rejected(reason: reason)
            }
    }

    /// No answer: the batch may or may not have arrived. It is sent again with the same id, so that it counts once.
    init(transportError: String) {
        self = .retry(after: nil, reason: transportError)
    }
}
