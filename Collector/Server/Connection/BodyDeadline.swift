import NIOCore
import NIOHTTPTypes

/// Closes a connection whose request does not end in time, however steadily its bytes come. One timer runs for each
/// connection, not for each request.
final class BodyDeadline: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart

    private let timeout: TimeAmount
    /// The deadline of the request that is being read; `nil` between requests.
    private var deadline: NIODeadline?
    private var timer: Scheduled<Void>?

    init(_ timeout: Duration) {
        self.timeout = TimeAmount(timeout)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head:
            deadline = .now() + timeout
            startTimer(context)
        case .body: break
        case .end: deadline = nil
        }
        context.fireChannelRead(data)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        timer?.cancel()
    }

    private func startTimer(_ context: ChannelHandlerContext) {
        guard timer == nil, let deadline else { return }
        timer = context.eventLoop.assumeIsolated().scheduleTask(deadline: deadline) {
            self.timer = nil
            guard let deadline = self.deadline else { return }
            if deadline <= .now() { context.close(promise: nil) } else { self.startTimer(context) }
        }
    }
}
