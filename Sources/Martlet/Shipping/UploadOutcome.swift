import MartletOTLP
import MartletTelemetry

/// The outcome of an attempt to upload a batch.
enum UploadOutcome: Equatable {
    /// - Parameter refusal: the part that the collector did not take, and that is not sent again; `nil` if it took the whole.
    case delivered(refusal: Refusal? = nil)
    /// - Parameter mayHaveArrived: whether the collector, or one behind it, may have the batch nevertheless.
    case retry(RetryWait, mayHaveArrived: Bool, reason: String)
    /// The batch is too large in one piece.
    case split(reason: String)
    /// The collector will never take the batch.
    case dropped(DropReason, reason: String)

    /// A part of a batch that the collector did not take.
    struct Refusal: Equatable {
        /// The number of requests; `nil` if the collector does not tell: OTLP counts data points, of which a request has
        /// several.
        var requests: UInt64?
        /// The number of data points, or of spans.
        var points: UInt64
        var reason: String
    }

    /// Applies the OTLP specification's table (OTLP/HTTP Response), where every failure but 429, 502, 503 and 504 is final,
    /// with two differences. A batch with the answer 413 is divided. An answer that shows a wrong address or token keeps the
    /// batch, because a person mends these, and dropping data does not: losing a day of counts for a slip in a setting is
    /// worse than a refused request a minute. The buffer's limit holds all the same.
    ///
    /// A 429 and a collector's own 503 tell that the batch was not taken. A 502, a 504 and another 503 may come from a proxy
    /// that has passed the batch on.
    init(_ answer: UploadAnswer, signal: Signal) {
        let status = answer.status
        let partial = (200..<300).contains(status) ? PartialSuccess(inBody: answer.body, signal: signal) : nil
        let said = (partial?.message ?? RPCStatus.message(inBody: answer.body))
            .printable(upTo: MartletLimits.reasonLength)
        let reason = said.isEmpty ? "status \(status)" : "status \(status): \(said)"
        self =
            switch status {
            case 200..<300: .delivered(refusal: Refusal(answer, partial, reason: reason))
            case 429, 502, 503, 504:
                .retry(
                    answer.retryAfter.map(RetryWait.notBefore) ?? .backOff,
                    mayHaveArrived: status != 429 && (status != 503 || answer.store == nil), reason: reason)
            case 413: .split(reason: reason)
            case 400 where answer.missesCertificate:
                .retry(.longest, mayHaveArrived: false, reason: "\(reason); a proxy requires a client certificate")
            case 300..<400, 401, 403, 404, 405, 407: .retry(.longest, mayHaveArrived: false, reason: reason)
            default: .dropped(.rejected, reason: reason)
            }
    }

    /// Without an answer a batch is sent again with the same id, so that a collector that has it counts it once.
    init(_ end: UploadEnd, signal: Signal) {
        switch end {
        case .answered(let answer): self.init(answer, signal: signal)
        case .failed(let mayHaveArrived, let reason):
            self = .retry(.backOff, mayHaveArrived: mayHaveArrived, reason: reason)
        case .timedOut(let reason): self = .retry(.costly, mayHaveArrived: true, reason: reason)
        }
    }
}

extension UploadOutcome.Refusal {
    fileprivate init?(_ answer: UploadAnswer, _ partial: PartialSuccess?, reason: String) {
        let (requests, points) = (answer.rejectedRequests, partial?.rejected ?? 0)
        guard requests ?? 0 > 0 || points > 0 else { return nil }
        self.init(requests: requests, points: points, reason: reason)
    }
}
