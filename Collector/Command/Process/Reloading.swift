import Logging
import MartletServer
import ServiceLifecycle
import UnixSignals

/// Reads the files of tokens and of the certificate again at each SIGHUP. A file with a fault changes nothing.
struct Reloading: Service {
    let tokens: IngestTokenSource?
    let tls: ServerTLS?
    let logger: Logger

    func run() async throws {
        for await _ in await UnixSignalsSequence(trapping: .sighup).cancelOnGracefulShutdown() {
            reload("the ingest tokens") { try tokens?.reload() }
            reload("the certificate and its key") { try tls?.reload() }
        }
        try? await gracefulShutdown()
    }

    private func reload(_ subject: String, _ read: () throws -> Void?) {
        do {
            guard try read() != nil else { return }
            // A notice would be told once a minute, and the one who sent the signal waits for this line.
            logger.info("\(subject) were read again")
        } catch {
            logger.error("\(subject) stay as they were", metadata: ["error": "\(error)"])
        }
    }
}
