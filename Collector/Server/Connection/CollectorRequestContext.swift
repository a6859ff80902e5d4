import Hummingbird
import NIOCore

/// A request's context that knows the request's connection.
struct CollectorRequestContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    let channel: any Channel

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        channel = source.channel
    }

    /// The client's address without its port, as the connection has it.
    var remoteAddress: String { channel.remoteAddress?.ipAddress ?? "" }

    /// See ``ClientWatch/whileClientIsThere(_:)``.
    func whileClientIsThere<Value: Sendable>(
        _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await channel.pipeline.handler(type: ClientWatch.self).get().whileClientIsThere(work)
    }
}
