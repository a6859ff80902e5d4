import ServiceLifecycle

/// Tells systemd when the collector listens and when it is about to stop. It is the first service to be stopped.
struct ServiceNews: Service {
    let manager: ServiceManager
    /// Has a value for each address that the collector listens at.
    let listening: AsyncStream<Void>
    /// The number of addresses.
    let addresses: Int

    func run() async throws {
        var heard = 0
        for await _ in listening.cancelOnGracefulShutdown() {
            heard += 1
            if heard == addresses { await manager.tell(.ready) }
        }
        await manager.tell(.stopping)
    }
}
