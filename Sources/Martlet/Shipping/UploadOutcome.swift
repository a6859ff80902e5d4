import MartletOTLP
import MartletTelemetry

/// What a collector answered to an upload.
struct UploadAnswer: Equatable {
    var status: Int
    var retryAfter: Duration?
    /// Of this batch's requests, as a Martlet collector tells in `Martlet-Rejected-Requests`.
    var rejectedRequests: UInt64?
    var body: [UInt8] = []
}

extension UploadAnswer {
    /// A page of nginx's, in front of the collector: "No required SSL certificate was sent", "The SSL certificate error".
    fileprivate var missesCertificate: Bool {
        body.first { !$0.isASCIIWhitespace } == UInt8(ascii: "<")
            && String(decoding: body, as: UTF8.self).contains("SSL certificate")
    }

    /// - Parameters:
    ///   - retryAfter: the header's value, empty where there was none.
    ///   - rejectedRequests: likewise.
    init(status: Int, retryAfter: String, rejectedRequests: String, body: [UInt8]) {
        self.init(
            status: status, retryAfter: RetryAfter.delay(retryAfter, now: Clock.wall()),
            rejectedRequests: UInt64(rejectedRequests), body: body)
    }
}

/// When a batch is sent again.
enum RetryTime: Equatable {
    /// After a delay that grows with each failure.
    case backOff
    /// Not before the collector's own wish.
    case asked(Duration)
    /// After the longest delay: somebody has to change a setting first.
    case longest
    /// After a delay that grows faster and longer: each attempt keeps a core busy.
    case costly
}

/// What becomes of a batch after an attempt to upload it.
enum UploadOutcome: Equatable {
    /// - Parameter refusal: what of it was not taken, and is not to be sent again.
    case delivered(refusal: Refusal? = nil)
    case retry(RetryTime, reason: String)
    /// It is too large in one piece.
    case split(reason: String)
    /// It will never be taken.
    case dropped(DropReason, reason: String)

    /// A part of a batch that the collector did not take.
    struct Refusal: Equatable {
        /// `nil` where the collector does not tell: OTLP counts data points, of which a request has several.
        var requests: UInt64?
        /// Data points, or spans.
        var points: UInt64
        var reason: String
    }

    /// The OTLP specification's table (OTLP/HTTP Response), where every failure but 429, 502, 503 and 504 is final, with
    /// two differences. A 413 is answered with halves. And what says that the address or the token is wrong, which is
    /// mended by a person and not by dropping data, keeps the batch: losing a day of counts for a slip in a setting is
    /// worse than a request a minute that is refused, and the buffer's limit holds all the same.
    init(_ answer: UploadAnswer, signal: Signal) {
        let status = answer.status
        let partial = (200..<300).contains(status) ? PartialSuccess(inBody: answer.body, signal: signal) : nil
        let said = (partial?.message ?? RPCStatus.message(inBody: answer.body))
            .printable(upTo: MartletLimits.reasonLength)
        let reason = said.isEmpty ? "status \(status)" : "status \(status): \(said)"
        self =
            switch status {
            case 200..<300: .delivered(refusal: Refusal(answer, partial, reason: reason))
            case 429, 502, 503, 504: .retry(answer.retryAfter.map(RetryTime.asked) ?? .backOff, reason: reason)
            case 413: .split(reason: reason)
            case 400 where answer.missesCertificate:
                .retry(.longest, reason: "\(reason); a proxy asks for a client's certificate")
            case 300..<400, 401, 403, 404, 405, 407: .retry(.longest, reason: reason)
            default: .dropped(.rejected, reason: reason)
            }
    }

    init(_ end: UploadEnd, signal: Signal) {
        switch end {
        case .answered(let answer): self.init(answer, signal: signal)
        case .failed(let reason): self.init(transportError: reason)
        case .awaitedInVain(let reason): self = .retry(.costly, reason: reason)
        }
    }

    /// No answer: the batch may or may not have arrived. It is sent again with the same id, so that it counts once.
    init(transportError: String) {
        self = .retry(.backOff, reason: transportError)
    }
}

extension UploadOutcome.Refusal {
    fileprivate init?(_ answer: UploadAnswer, _ partial: PartialSuccess?, reason: String) {
        let (requests, points) = (answer.rejectedRequests, partial?.rejected ?? 0)
        guard requests ?? 0 > 0 || points > 0 else { return nil }
        self.init(requests: requests, points: points, reason: reason)
    }
}
