import NIOHTTP1

/// The reason why a request's head is not served. The connection cannot go on after it, because the next request's beginning is
/// not known for sure.
struct HeadRefusal: Equatable {
    var status: HTTPResponseStatus
    var sentence: String

    /// Checks the rules of HTTP/1.1 that the parser leaves open (RFC 9112, sections 3.2 and 6.1); `nil` if the head keeps
    /// them.
    init?(_ head: HTTPRequestHead) {
        let hosts = head.headers["host"].count
        let codings = head.headers[canonicalForm: "transfer-encoding"].map { $0.lowercased() }
        switch (hosts, codings) {
        case (2..., _): self.init(status: .badRequest, sentence: "the request has more than one Host")
        case (0, _) where !head.version.isOld:
            self.init(status: .badRequest, sentence: "the request has no Host")
        case (_, []): return nil
        case _ where head.version.isOld:
            self.init(status: .badRequest, sentence: "HTTP/1.0 has no Transfer-Encoding")
        case (_, ["chunked"]): return nil
        default: self.init(status: .notImplemented, sentence: "the only transfer coding that is known here is chunked")
        }
    }

    init(_ error: HTTPParserError) {
        if error == .headerOverflow {
            self.init(
                status: .requestHeaderFieldsTooLarge,
                sentence: "the request's target and header fields are too long or too many")
        } else {
            self.init(status: .badRequest, sentence: "the request is not valid HTTP/1.1")
        }
    }

    private init(status: HTTPResponseStatus, sentence: String) {
        (self.status, self.sentence) = (status, sentence)
    }
}

extension HTTPVersion {
    /// Whether it is from before HTTP/1.1, without chunks, a host and answers before the last one.
    var isOld: Bool { self == .http1_0 }
}
