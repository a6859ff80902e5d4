import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1
import NIOHTTPTypesHTTP1
import ServiceLifecycle

/// A connection whose task runs on its event loop (``EventLoopExecutor``). It counts as unauthenticated until it
/// shows a token.
struct EventLoopChannel<Base: ServerChildChannel>: ServerChildChannel {
    let base: Base
    let unauthenticated: UnauthenticatedConnections

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Base.Value> {
        unauthenticated.add(channel)
        return base.setup(channel: channel, logger: logger).flatMapThrowing { value in
            let pipeline = channel.pipeline.syncOperations
            let codec = try pipeline.handler(type: HTTP1ToHTTPServerCodec.self)
            try pipeline.addHandler(HeadHandler(), position: .before(codec))
            let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
            try pipeline.addHandler(OtherProtocolWatch(logger: logger), position: .before(decoder))
            return value
        }
    }

    func handle(value: Base.Value, logger: Logger) async {
        await withTaskExecutorPreference(EventLoopExecutor(value.channel.eventLoop)) {
            await base.handle(value: value, logger: logger)
        }
    }
}

/// Runs a connection's task on the event loop that reads and writes the connection. So a request need not wake another thread
/// before its work and again after it.
final class EventLoopExecutor: TaskExecutor {
    private let eventLoop: any EventLoop

    init(_ eventLoop: any EventLoop) {
        self.eventLoop = eventLoop
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        eventLoop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}

/// A service whose every step runs on a separate event loop. The loop ends with the service.
struct OwnThreadService<Base: Service>: Service {
    let base: Base
    /// A group of one event loop.
    let group: any EventLoopGroup

    func run() async throws {
        do {
            try await withTaskExecutorPreference(EventLoopExecutor(group.next())) { try await base.run() }
        } catch {
            try? await group.shutdownGracefully()
            throw error
        }
        try await group.shutdownGracefully()
    }
}
