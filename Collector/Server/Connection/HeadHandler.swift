import NIOCore
import NIOHTTP1

/// Enforces HTTP/1 on a connection. It refuses a head that breaks a rule (``HeadRefusal``), with a sentence, after the answers
/// to the requests before it. It answers HTTP/1.0 in HTTP/1.0.
///
/// It sits next to the parser, because later handlers no longer see a request's version, and see only one host.
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
        // On a parser error, Hummingbird first answers the requests before it, then answers the error and closes the
        // connection.
        guard refusal == nil else { return context.fireErrorCaught(HTTPParserError.unknown) }
        unanswered.append(head.version)
        // A client of HTTP/1.0 takes the end of the connection as the end of the answer.
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
        // An answer without a request is the answer to a refused head.
        guard let version = unanswered.first else { return refuse(head, context, promise) }
        var head = head
        if version.isOld {
            // HTTP/1.0 has only final answers.
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

/// The reason why a request's head is refused. The connection cannot continue after it, because nobody knows for sure where the
/// next request begins.
struct HeadRefusal {
    var status: HTTPResponseStatus
    var sentence: String

    /// Checks the rules of HTTP/1.1 that the parser does not check (RFC 9112, sections 3.2 and 6.1). `nil` if the head obeys
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
    /// Whether the version is older than HTTP/1.1: without chunks, a host and interim answers.
    var isOld: Bool { self == .http1_0 }
}
