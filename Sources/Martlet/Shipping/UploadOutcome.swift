import Foundation
import MartletOTLP
import MartletTelemetry

/// The outcome of an attempt to upload a batch.
enum UploadOutcome: Equatable {
    /// - Parameter refusal: the part that the collector refused, which is not sent again; `nil` if it took everything.
    case delivered(refusal: Refusal? = nil)
    /// - Parameter mayHaveArrived: whether the collector, or one behind it, may nevertheless have the batch.
    case retry(RetryWait, mayHaveArrived: Bool, reason: String)
    /// The batch is too large to be sent in one piece.
    case split(reason: String)
    /// The collector will never take the batch.
    case dropped(DropReason, reason: String)

    /// A part of a batch that the collector did not take.
    struct Refusal: Equatable {
        /// The number of requests; `nil` if the collector does not report it: OTLP counts data points, and a request
        /// has several.
        var requests: UInt64?
        /// The number of data points, or of spans.
        var points: UInt64
        var reason: String
    }

    /// Applies the OTLP specification's table (OTLP/HTTP Response), in which every failure except 429, 502, 503 and 504
    /// is final. It differs where the specification would lose batches through an outage or a typing mistake:
    /// - 413 divides the batch.
    /// - 408, 425, 500, 507 and 520 to 530 are an outage, as a collector, a proxy or a content network reports it.
    /// - An answer that is not OTLP's comes from another server: a proxy's page, a captive portal, a wrong port. It
    ///   delivers nothing, and is a wrong setting like 401 or 404. A person can correct it, so the batch is kept.
    ///
    /// The buffer's limit applies nevertheless. A 429, or a 503 of the collector itself, means that the batch was not
    /// taken. Any other failure of a server may come from a proxy that has passed the batch on.
    init(_ answer: UploadAnswer, signal: Signal, over way: UploadWay = .direct) {
        let status = answer.status
        let partial = (200..<300).contains(status) ? PartialSuccess(inBody: answer.body, signal: signal) : nil
        let said = (partial?.message ?? RPCStatus.message(inBody: answer.body))
            .printable(upTo: MartletLimits.reasonLength)
        let answered = said.isEmpty ? "status \(status)" : "status \(status): \(said)"
        let reason = answered + way.note
        self =
            switch status {
            case 200..<300 where !answer.isOTLP(for: signal), 400 where answer.isPage:
                .retry(.longest, mayHaveArrived: false, reason: "\(answered); \(answer.strangeness)\(way.note)")
            case 200..<300: .delivered(refusal: Refusal(answer, partial, reason: answered))
            case 408, 425, 429, 500, 502, 503, 504, 507, 520...530:
                .retry(
                    answer.retryAfter.map(RetryWait.notBefore) ?? .backOff,
                    mayHaveArrived: status != 429 && (status != 503 || answer.store == nil), reason: reason)
            case 413: .split(reason: reason)
            case 300..<400, 401, 403, 404, 405, 407: .retry(.longest, mayHaveArrived: false, reason: reason)
            default: .dropped(.rejected, reason: reason)
            }
    }

    /// Without an answer a batch is sent again with the same id, so that a collector that already has it counts it
    /// once.
    init(_ end: UploadEnd, signal: Signal, over way: UploadWay = .direct) {
        switch end {
        case .answered(let answer): self.init(answer, signal: signal, over: way)
        case .failed(let mayHaveArrived, let reason):
            self = .retry(.backOff, mayHaveArrived: mayHaveArrived, reason: reason + way.noteWithoutAnswer)
        case .timedOut(let reason):
            self = .retry(.costly, mayHaveArrived: true, reason: reason + way.noteWithoutAnswer)
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

/// The end of an upload.
enum UploadEnd: Equatable {
    case answered(UploadAnswer)
    /// - Parameter mayHaveArrived: `false` if the request did not leave this process as a whole.
    case failed(mayHaveArrived: Bool, reason: String)
    /// No answer came in time, and waiting for it kept a core busy.
    case timedOut(reason: String)
}

/// A collector's answer to an upload.
struct UploadAnswer: Equatable {
    var status: Int
    var retryAfter: Duration?
    /// The number of requests that a Martlet collector rejected (`Martlet-Rejected-Requests`); `nil` if it does not
    /// report it.
    var rejectedRequests: UInt64?
    /// The store of the Martlet collector that answered (`Martlet-Store`); `nil` if it does not report it.
    var store: ShortDigest?
    /// The value of `Content-Type`; empty if the answer has none.
    var contentType = ""
    var body: [UInt8] = []
}

extension UploadAnswer {
    /// Whether the answer can be that of an OTLP receiver: its body has the content type of the request, or is empty
    /// (OTLP/HTTP Response). Some receivers answer in JSON, or without a content type, so the body may show it too.
    func isOTLP(for signal: Signal) -> Bool {
        body.isEmpty || store != nil || mediaType == Uploader.contentType
            || PartialSuccess.isExportResponse(body, signal: signal)
    }

    /// Whether the body is a text for people: a page of HTML, or the sentence of a TLS server that was asked in plain
    /// HTTP.
    var isPage: Bool {
        mediaType == "text/html" || body.first { !$0.isASCIIWhitespace } == UInt8(ascii: "<")
            || text.contains("HTTPS server")
    }

    /// A hint for a person after an answer that is not OTLP's.
    var strangeness: String {
        if text.contains("SSL certificate") { return "a proxy requires a client certificate" }
        if text.contains("HTTPS") { return "the port expects https" }
        return "the answer (\(mediaType.isEmpty ? "no content type" : mediaType)) is not an OTLP receiver's"
    }

    /// The content type without parameters, in lower case.
    private var mediaType: String {
        contentType.prefix { $0 != ";" && $0 != " " }.lowercased().printable(upTo: 100)
    }

    private var text: String { String(decoding: body, as: UTF8.self) }

    /// - Parameters:
    ///   - retryAfter: the header's value; empty, as for the other headers, if the answer has none.
    init(
        status: Int, retryAfter: String, rejectedRequests: String, store: String, contentType: String, body: [UInt8]
    ) {
        self.init(
            status: status, retryAfter: RetryAfter.delay(retryAfter, now: Clock.wall()),
            rejectedRequests: UInt64(rejectedRequests), store: ShortDigest(store: store), contentType: contentType,
            body: body)
    }
}

/// The `Retry-After` header (RFC 9110, section 10.2.3): seconds or an HTTP date.
enum RetryAfter {
    /// Returns the delay, never negative and never longer than ``MartletLimits/retryAfter``; `nil` if the text is neither
    /// form.
    static func delay(_ text: String, now: UnixNanoseconds) -> Duration? {
        let seconds = UInt32(text).map(Double.init) ?? HTTPDate.seconds(text).map { Double($0) - Double(now) / 1e9 }
        return seconds.map { min(.seconds(max(0, $0)), MartletLimits.retryAfter) }
    }
}

/// IMF-fixdate, `Sun, 06 Nov 1994 08:49:37 GMT`: the only form of an HTTP date that senders may use (RFC 9110, section
/// 5.6.7). The obsolete forms are refused.
enum HTTPDate {
    private static let weekdays = ["Mon,", "Tue,", "Wed,", "Thu,", "Fri,", "Sat,", "Sun,"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// Of Foundation's formats, only this one depends on neither the locale nor the time zone of the process.
    private static let utc = Date.ISO8601FormatStyle()

    /// Returns the seconds since 1970; `nil` if the text is not such a date. The day of the week is not checked. `:60` is a
    /// leap second, which Unix time lacks, and counts as the next second.
    static func seconds(_ text: String) -> Int? {
        let fields = text.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        guard fields.count == 6, weekdays.contains(fields[0]), let month = months.firstIndex(of: fields[2]),
            fields[5] == "GMT"
        else { return nil }
        let isLeapSecond = fields[4].hasSuffix(":60")
        let time = isLeapSecond ? fields[4].dropLast(2) + "59" : fields[4]
        let text = "\(fields[3])-\(month < 9 ? "0" : "")\(month + 1)-\(fields[1])T\(time)Z"
        // Foundation also accepts days and times that do not exist.
        guard let date = try? utc.parse(text), date.formatted(utc) == text else { return nil }
        return Int(exactly: date.timeIntervalSince1970).map { isLeapSecond ? $0 + 1 : $0 }
    }
}
