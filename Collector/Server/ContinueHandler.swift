import HTTPTypes
import NIOCore
import NIOHTTPTypes

/// Tells a client that asks first (`Expect: 100-continue`, RFC 9110, section 10.1.1) to go on with its body, unless that
/// is larger than any that is taken: then the answer comes at once, and the body need not.
final class ContinueHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundOut = HTTPResponsePart

    private let maxBodyBytes: Int

    init(maxBodyBytes: Int) {
        self.maxBodyBytes = maxBodyBytes
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if case .head(let head) = unwrapInboundIn(data), head.headerFields[.expect]?.lowercased() == "100-continue",
            Int(head.headerFields[.contentLength] ?? "0") ?? 0 <= maxBodyBytes
        {
            context.writeAndFlush(wrapOutboundOut(.head(HTTPResponse(status: .continue))), promise: nil)
        }
        context.fireChannelRead(data)
    }
}
