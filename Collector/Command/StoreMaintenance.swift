import Logging
import MartletStorage
import ServiceLifecycle

/// Has the store make older points coarser and delete those past their retention, every few seconds, until the collector
/// stops. A step that is interrupted then is repeated after the next start.
struct StoreMaintenance: Service {
    /// The time between the end of one pass and the next: a minute's points are rolled up soon after the minute is over.
    static let pause = Duration.seconds(10)

    let storage: any Storage
    let logger: Logger

    func run() async throws {
        try? await cancelWhenGracefulShutdown {
            var news = StoreNews()
            while true {
                do {
                    try await storage.maintain()
                    for line in news.lines(after: try await storage.state()) {
                        logger.log(level: line.level, "\(line.text)")
                    }
                } catch is CancellationError {
                    return
                } catch {
                    logger.error("old data could not be rolled up or deleted", metadata: ["error": "\(error)"])
                }
                if let line = news.line(on: storage.fault) { logger.log(level: line.level, "\(line.text)") }
                try await Task.sleep(for: Self.pause)
            }
        }
        // A service that returns before the others would stop them all.
        try? await gracefulShutdown()
    }
}
