import NIOCore
import NIOHTTPTypes
import Synchronization

/// Whether a connection's client is still there. One that says that it will send no more has left too, for a closed connection
/// looks the same until something is written to it. Safe to call from any task.
final class ClientWatch: ChannelInboundHandler, RemovableChannelHandler, Sendable {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart

    private struct State {
        var hasLeft = false
        /// Of the request that is being answered; there is one at a time.
        var departure: AsyncStream<Void>.Continuation?
    }

    private let state = Mutex(State())

    /// What `work` gives. Cancels it when the client leaves, and throws `CancellationError` when it has ended.
    func whileClientIsThere<Value: Sendable>(
        _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await withThrowingTaskGroup(of: Value?.self) { group in
            defer { group.cancelAll() }
            group.addTask { try await work() }
            group.addTask {
                await self.departure()
                return nil
            }
            guard let first = try await group.next(), let value = first else { throw CancellationError() }
            return value
        }
    }

    /// Returns when the client has left or the task was cancelled.
    private func departure() async {
        let (departures, departure) = AsyncStream.makeStream(of: Void.self)
        let hasLeft = state.withLock { state in
            state.departure = departure
            return state.hasLeft
        }
        if hasLeft { departure.finish() }
        for await _ in departures {}
    }

    private func leave() {
        let departure = state.withLock { state in
            state.hasLeft = true
            return state.departure
        }
        departure?.finish()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event as? ChannelEvent == .inputClosed { leave() }
        context.fireUserInboundEventTriggered(event)
    }

    func channelInactive(context: ChannelHandlerContext) {
        leave()
        context.fireChannelInactive()
    }
}
