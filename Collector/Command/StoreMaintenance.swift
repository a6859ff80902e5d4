import Logging
import MartletStorage
import ServiceLifecycle

/// Lets the store make older points coarser and delete what is past its retention, every few seconds, until the collector
/// stops. What it is at then is done again after the next start.
struct StoreMaintenance: Service {
    /// Between the end of one pass and the next: a minute's points are rolled up soon after it is over.
    static let pause = Duration.seconds(10)

    let storage: any Storage
    let logger: Logger

    func run() async throws {
        try? await cancelWhenGracefulShutdown {
            while true {
                do {
                    try await storage.maintain()
                } catch is CancellationError {
                    return
                } catch {
                    logger.error("the store could not be maintained", metadata: ["error": "\(error)"])
                }
                try await Task.sleep(for: Self.pause)
            }
        }
        // A service that returns before the others would stop them all.
        try? await gracefulShutdown()
    }
}
