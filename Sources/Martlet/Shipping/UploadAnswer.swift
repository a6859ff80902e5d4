import MartletTelemetry

/// A collector's answer to an upload.
struct UploadAnswer: Equatable {
    var status: Int
    var retryAfter: Duration?
    /// The requests of this batch that a Martlet collector rejected (`Martlet-Rejected-Requests`); `nil` if it does not tell.
    var rejectedRequests: UInt64?
    /// The store of the Martlet collector that answered (`Martlet-Store`); `nil` if it does not tell.
    var store: ShortDigest?
    var body: [UInt8] = []
}

extension UploadAnswer {
    /// Whether the answer is a page of nginx's, in front of the collector: "No required SSL certificate was sent", "The SSL
    /// certificate error".
    var missesCertificate: Bool {
        body.first { !$0.isASCIIWhitespace } == UInt8(ascii: "<")
            && String(decoding: body, as: UTF8.self).contains("SSL certificate")
    }

    /// - Parameters:
    ///   - retryAfter: the header's value, empty if the answer has none.
    ///   - rejectedRequests: likewise.
    ///   - store: likewise.
    init(status: Int, retryAfter: String, rejectedRequests: String, store: String, body: [UInt8]) {
        self.init(
            status: status, retryAfter: RetryAfter.delay(retryAfter, now: Clock.wall()),
            rejectedRequests: UInt64(rejectedRequests), store: ShortDigest(store: store), body: body)
    }
}
