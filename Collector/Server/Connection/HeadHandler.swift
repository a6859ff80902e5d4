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
