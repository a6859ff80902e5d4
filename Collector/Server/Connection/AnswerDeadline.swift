import NIOCore
import NIOHTTPTypes

/// Closes a connection whose client does not take its answers in time.
///
/// The time starts when more bytes wait for the client than NIO's high water mark (64 KiB), and ends when nearly all of
/// them were taken (the low one, 32 KiB). A slow client gets its whole answer if it takes these 32 KiB, or the one larger
/// piece that waits, in the time. A client that takes a byte now and then does not. If fewer bytes wait, the collector is
/// done with the answer, and ``ServerLimits/idleTimeout`` holds.
final class AnswerDeadline: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart

    private let timeout: TimeAmount
    private var timer: Scheduled<Void>?

    init(_ timeout: Duration) {
        self.timeout = TimeAmount(timeout)
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        timer?.cancel()
        timer =
            context.channel.isWritable
            ? nil : context.eventLoop.assumeIsolated().scheduleTask(in: timeout) { context.close(promise: nil) }
        context.fireChannelWritabilityChanged()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        timer?.cancel()
    }
}
