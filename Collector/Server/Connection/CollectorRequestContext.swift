import Hummingbird
import MartletStorage
import NIOCore
import NIOHTTPTypes
import Synchronization

/// A request's context that also holds the request's connection.
struct CollectorRequestContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    let channel: any Channel
    /// The reader; `nil` before ``ReaderMiddleware`` and on paths that are not read.
    var reader: Reader?

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        channel = source.channel
    }

    /// The client's address without its port, as the connection has it.
    var remoteAddress: String { channel.remoteAddress?.ipAddress ?? "" }

    /// Returns the result of `work`, which reads the store. If the client leaves, cancels `work` and throws `CancellationError`.
    /// If `work` takes longer than `limit`, cancels it and throws ``ReadTimeout``.
    func reading<Value: Sendable>(
        within limit: Duration, _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await whileClientIsThere {
            try await withThrowingTaskGroup(of: Value.self) { group in
                defer { group.cancelAll() }
                group.addTask(operation: work)
                group.addTask {
                    try await Task.sleep(for: limit)
                    throw ReadTimeout(seconds: Double(limit.components.seconds))
                }
                guard let value = try await group.next() else { throw CancellationError() }
                return value
            }
        }
    }

    /// See ``ClientWatch/whileClientIsThere(_:)``.
    func whileClientIsThere<Value: Sendable>(
        _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await channel.pipeline.handler(type: ClientWatch.self).get().whileClientIsThere(work)
    }
}

/// Watches whether a connection's client is still there. A client that ends its sending side counts as gone, because a closed
/// connection looks the same until bytes are written to it. Safe to call from any task.
final class ClientWatch: ChannelInboundHandler, RemovableChannelHandler, Sendable {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart

    private struct State {
        var hasLeft = false
        /// Ends when the client leaves. It belongs to the request that is being answered. There is one at a time.
        var departure: AsyncStream<Void>.Continuation?
    }

    private let state = Mutex(State())

    /// Returns the result of `work`. If the client leaves, cancels `work`, waits for its end and throws `CancellationError`.
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
