import HummingbirdCore
import Logging
import NIOCore
import NIOHTTPTypesHTTP1

/// A connection whose task runs on its event loop (``EventLoopExecutor``), and that is a newcomer until it shows a token.
struct EventLoopChannel<Base: ServerChildChannel>: ServerChildChannel {
    let base: Base
    let newcomers: Newcomers

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Base.Value> {
        newcomers.enter(channel)
        return base.setup(channel: channel, logger: logger).flatMapThrowing { value in
            let pipeline = channel.pipeline.syncOperations
            let codec = try pipeline.handler(type: HTTP1ToHTTPServerCodec.self)
            try pipeline.addHandler(HeadHandler(), position: .before(codec))
            return value
        }
    }

    func handle(value: Base.Value, logger: Logger) async {
        await withTaskExecutorPreference(EventLoopExecutor(value.channel.eventLoop)) {
            await base.handle(value: value, logger: logger)
        }
    }
}
