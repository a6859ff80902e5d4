import NIOCore
import ServiceLifecycle

/// A service whose every step runs on its own event loop, which ends with it.
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
