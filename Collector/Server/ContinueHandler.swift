import HTTPTypes
import NIOCore
import NIOHTTPTypes

/// Tells a client that asks first (`Expect: 100-continue`, RFC 9110, section 10.1.1) to go on with its body, unless that
/// is larger than any that is taken: then the answer comes at once, and the body need not.
///
/// Answers come in the order of the requests (RFC 9112, section 9.3.2), so whoever asks behind other requests is told after
/// their answers.
final class ContinueHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private let maxBodyBytes: Int
    /// Requests that came and whose answers have not ended.
    private var unanswered = 0
    /// Whether the last of them waits to be told.
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
        // It did not wait.
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
