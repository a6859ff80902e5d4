import Logging
import MartletServer
import ServiceLifecycle

/// The first to be told to stop: the server still listens while the requests that it is at are finished, so that whoever
/// asks `/readyz` hears that it leaves.
struct Draining: Service {
    /// From SIGTERM to the end of the server. What is not finished by then is cut off; senders send it again.
    static let maxDuration = Duration.seconds(10)

    let requests: RequestsInWork
    let logger: Logger

    func run() async throws {
        try? await gracefulShutdown()
        logger.info("stopping after the requests in work")
        await requests.drain()
        if Task.isCancelled { logger.warning("requests that did not end in \(Self.maxDuration) are cut off") }
    }
}
