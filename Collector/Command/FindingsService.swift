import Logging
import MartletFindings
import MartletStorage
import ServiceLifecycle

/// Makes the watch read each minute soon after its end, until the collector stops. At the start it reads the last three hours.
struct FindingsService: Service {
    let watch: FleetWatch
    let logger: Logger

    func run() async throws {
        try? await cancelWhenGracefulShutdown {
            while true {
                do {
                    try await watch.tick(now: SystemClock.now())
                } catch is CancellationError {
                    return
                } catch {
                    logger.error("the last minute could not be read for findings", metadata: ["error": "\(error)"])
                }
                try await Task.sleep(for: .nanoseconds(FleetWatch.timeToNextTick(now: SystemClock.now())))
            }
        }
        // If this service returned before the others, it would stop them all.
        try? await gracefulShutdown()
    }
}
