import NIOCore
import NIOHTTP1

/// Holds a connection to HTTP/1: refuses a head that breaks a rule (``HeadRefusal``), with a sentence and after the answers to
/// the requests before it, and answers HTTP/1.0 in HTTP/1.0.
///
/// It stands at the parser, because further up a request has no version and one host.
final class HeadHandler: ChannelDuplexHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    /// The versions of the requests whose answers have not ended.
    private var unanswered = CircularBuffer<HTTPVersion>()
    private var refusal: HeadRefusal?

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard refusal == nil else { return }
        guard case .head(var head) = unwrapInboundIn(data) else { return context.fireChannelRead(data) }
        refusal = HeadRefusal(head)
        // Hummingbird answers an error of the parser when it has answered the requests before it, and ends the connection.
        guard refusal == nil else { return context.fireErrorCaught(HTTPParserError.unknown) }
        unanswered.append(head.version)
        // Its client takes the end of the connection for the end of the answer.
        if head.version.isOld { head.headers.replaceOrAdd(name: "connection", value: "close") }
        context.fireChannelRead(wrapInboundOut(.head(head)))
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if refusal == nil, let error = error as? HTTPParserError { refusal = HeadRefusal(error) }
        context.fireErrorCaught(error)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .head(let head): write(head, context, promise)
        case .body: context.write(data, promise: promise)
        case .end:
            _ = unanswered.popFirst()
            context.write(data, promise: promise)
        }
    }

    private func write(_ head: HTTPResponseHead, _ context: ChannelHandlerContext, _ promise: EventLoopPromise<Void>?) {
        // An answer without a request is the one to a refused head.
        guard let version = unanswered.first else { return refuse(head, context, promise) }
        var head = head
        if version.isOld {
            // HTTP/1.0 has no answers before the last one.
            guard head.status.code >= 200 else { return promise?.succeed() ?? () }
            head.version = .http1_0
            head.headers.replaceOrAdd(name: "connection", value: "close")
        }
        context.write(wrapOutboundOut(.head(head)), promise: promise)
    }

    private func refuse(_ head: HTTPResponseHead, _ context: ChannelHandlerContext, _ promise: EventLoopPromise<Void>?)
    {
        guard let refusal else { return context.write(wrapOutboundOut(.head(head)), promise: promise) }
        let body = ByteBuffer(string: refusal.sentence + "\n")
        let headers: HTTPHeaders = [
            "content-type": "text/plain; charset=utf-8", "content-length": "\(body.readableBytes)",
            "connection": "close", "x-content-type-options": "nosniff", "cache-control": "no-store",
        ]
        let answer = HTTPResponseHead(version: .http1_1, status: refusal.status, headers: headers)
        context.write(wrapOutboundOut(.head(answer)), promise: nil)
        context.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: promise)
    }
}

/// The reason why a request's head is not served. The connection cannot go on after it, because the next request's beginning is
/// not known for sure.
struct HeadRefusal {
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
            self.init(status: .badRequest, sentence: "Transfer-Encoding is not allowed in HTTP/1.0")
        case (_, ["chunked"]): return nil
        default: self.init(status: .notImplemented, sentence: "the only supported transfer coding is chunked")
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
