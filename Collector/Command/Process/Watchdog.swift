import NIOPosix
import ServiceLifecycle

/// Tells systemd at intervals that the collector is alive: each thread that answers connections has come round, and so have the
/// threads of the tasks, on which this runs. If one hangs, systemd hears nothing and starts the collector anew.
struct Watchdog: Service {
    let manager: ServiceManager
    /// The time within which systemd wants to hear something.
    let period: Duration

    func run() async throws {
        try? await cancelWhenGracefulShutdown {
            while true {
                for eventLoop in MultiThreadedEventLoopGroup.singleton.makeIterator() {
                    try await eventLoop.submit {}.get()
                }
                await manager.tell(.alive)
                try await Task.sleep(for: period / 2)
            }
        }
    }
}
