import HTTPTypes
import NIOCore
import NIOHTTPTypes

/// Tells a client that asks first (`Expect: 100-continue`, RFC 9110, section 10.1.1) to go on with its body. If the body
/// is larger than the limit, the client gets its answer at once and need not send the body.
///
/// Answers come in the order of the requests (RFC 9112, section 9.3.2), so a client that asks behind other requests is
/// told after the answers to those.
final class ContinueHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private let maxBodyBytes: Int
    /// The number of requests whose answers have not ended.
    private var unanswered = 0
    /// Whether the client of the last request waits to be told to go on.
    private var isAsked = false

    init(maxBodyBytes: Int) {
        self.maxBodyBytes = maxBodyBytes
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            unanswered += 1
            isAsked = asks(head)
            goOn(context)
        case .body: break
        // The client has not waited.
        case .end: isAsked = false
        }
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        context.write(data, promise: promise)
        guard case .end = unwrapOutboundIn(data) else { return }
        unanswered -= 1
        goOn(context)
    }

    private func asks(_ head: HTTPRequest) -> Bool {
        head.headerFields[.expect]?.lowercased() == "100-continue"
            && Int(head.headerFields[.contentLength] ?? "0") ?? 0 <= maxBodyBytes
    }

    private func goOn(_ context: ChannelHandlerContext) {
        guard isAsked, unanswered == 1 else { return }
        isAsked = false
        context.writeAndFlush(wrapOutboundOut(.head(HTTPResponse(status: .continue))), promise: nil)
    }
}
