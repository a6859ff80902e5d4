import HTTPTypes
import NIOCore
import NIOHTTPTypes

/// Closes a connection whose request does not end in time, however steadily its bytes come. There is one timer for each
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

/// Closes a connection whose client does not take its answers in time.
///
/// The time starts when more bytes wait for the client than NIO's high water mark (64 KiB). It ends when fewer than the low
/// water mark wait (32 KiB). A slow client gets its whole answer if it takes these 32 KiB in the time, or the one larger piece
/// that waits. A client that takes a byte now and then is cut off. If fewer bytes wait, the collector is done with the answer,
/// and ``ServerLimits/idleTimeout`` applies.
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

/// Answers a client that asks before it sends its body (`Expect: 100-continue`, RFC 9110, section 10.1.1), so that it goes on.
/// If the body is larger than the limit, the client gets its answer at once and need not send the body.
///
/// Answers come in the order of the requests (RFC 9112, section 9.3.2). So a client with unanswered earlier requests gets
/// permission only after their answers.
final class ContinueHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private let maxBodyBytes: Int
    /// The number of requests whose answers have not ended.
    private var unanswered = 0
    /// Whether the client of the last request waits for permission to go on.
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
        // The client did not wait.
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
