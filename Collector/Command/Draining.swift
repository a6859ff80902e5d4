import Logging
import MartletServer
import ServiceLifecycle

/// The service that stops first: the server still listens while its current requests are finished, so that `/readyz` can
/// answer that the collector is stopping.
struct Draining: Service {
    /// The time from SIGTERM to the end of the server. Requests that are unfinished by then are cut off; senders send them
    /// again.
    static let maxDuration = Duration.seconds(10)

    let requests: RequestsInWork
    let logger: Logger

    func run() async throws {
        // It throws if another service failed: then there is nothing to finish.
        do { try await gracefulShutdown() } catch { return }
        logger.info("stopping once the requests in progress are answered")
        await requests.drain()
        if Task.isCancelled { logger.warning("cutting off requests that did not end within \(Self.maxDuration)") }
    }
}
