import NIOCore
import NIOHTTPTypes

/// Closes a connection whose client does not take its answers in time.
///
/// Time runs while more waits for the client than is made ahead of it (NIO's high water mark, 64 KiB), and ends when nearly
/// all of that was taken (the low one, 32 KiB). So a slow client gets everything, as long as it takes these 32 KiB, or the one
/// larger piece that waits, in the time; one that takes a byte now and then does not. Where less waits, the answer has ended as
/// far as the collector is concerned, and ``ServerLimits/idleTimeout`` holds.
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
