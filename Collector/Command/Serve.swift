import ArgumentParser
import Foundation
import Logging
import MartletSQLiteStorage
import MartletServer
import ServiceLifecycle

struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Receives OTLP over HTTP and serves reports, until SIGINT or SIGTERM.",
        discussion: """
            Each flag can also be set as an environment variable, such as MARTLET_COLLECTOR_PORT for --port. The flag takes \
            precedence.
            """)

    @Option(help: "The address to listen on. (default: 127.0.0.1)")
    var host: String?

    @Option(help: "The port to listen on; 0 chooses a free one. (default: 4318)")
    var port: Int?

    @Option(
        help: "The store, sqlite:PATH. (default: collector.sqlite in $XDG_STATE_HOME/martlet or ~/.local/state/martlet)"
    )
    var store: String?

    @Option(help: "The bearer token that senders must give; safer as the variable MARTLET_COLLECTOR_INGEST_TOKEN.")
    var ingestToken: String?

    @Option(
        help:
            "The bearer token that readers of /api and /metrics must give; safer as the variable MARTLET_COLLECTOR_READ_TOKEN."
    )
    var readToken: String?

    @Option(
        help: """
            A name that browsers and readers may reach the collector by, besides addresses and names without a dot; may be \
            repeated. It matters without a read token alone.
            """)
    var allowedHost: [String] = []

    @Option(help: "The length of time that points of each resolution are kept. (default: 10s=6h,1m=7d,1h=400d)")
    var retention: String?

    @Option(help: "The length of time that details of requests (spans) are kept. (default: 24h)")
    var details: String?

    @Option(help: "The greatest number of details (spans) that are kept. (default: 100000)")
    var maxDetails: Int?

    @Option(help: "The greatest size of the details that are kept, such as 500MiB. (default: 1GiB)")
    var maxDetailsBytes: String?

    @Option(
        help: """
            The greatest size of the store's pages in use. Past it the oldest details are deleted, then the oldest points of \
            10 s and of minutes. (default: 10GiB)
            """)
    var maxStore: String?

    @Option(help: "PEM file with the server's certificate, followed by any intermediate certificates; turns on https.")
    var tlsCertificate: String?

    @Option(help: "PEM file with the certificate's private key, without a passphrase.")
    var tlsKey: String?

    @Flag(help: "Allow other machines to connect although a token is missing.")
    var insecure = false

    func run() async throws {
        let settings = try settings()
        let activity = CollectorActivity()
        let storage = try reportingFailure {
            try SQLiteStorage(path: settings.storePath, limits: settings.limits, onStored: activity.add)
        }
        LoggingSystem.bootstrap { label in StreamLogHandler.standardError(label: label) }
        let logger = Logger(label: "martlet-collector")
        let server = CollectorServer(
            storage: storage, activity: activity, tokens: settings.tokens, tls: settings.tls,
            allowedHosts: AllowedHosts(settings.allowedHosts),
            now: SQLiteStorage.systemClock, logger: logger)
        let application = try server.application(at: settings.address) { port in
            Output.line("martlet-collector: listening on \(settings.url(port: port))")
        }
        // The group stops its services in reverse order.
        var configuration = ServiceGroupConfiguration(
            services: [
                StoreMaintenance(storage: server.storage, logger: logger), application,
                Draining(requests: server.requests, logger: logger),
            ],
            gracefulShutdownSignals: [.sigint, .sigterm], logger: logger)
        configuration.maximumGracefulShutdownDuration = Draining.maxDuration
        let services = ServiceGroup(configuration: configuration)
        try await reportingFailure("cannot serve at \(settings.url(port: settings.address.port)): ") {
            try await services.run()
        }
        // The log has all that the file has not, and the next start reads it.
        do { try storage.close() } catch {
            logger.warning("the store's log could not be folded into its file", metadata: ["error": "\(error)"])
        }
    }

    private func settings() throws -> ServeSettings {
        let environment = CollectorEnvironment(ProcessInfo.processInfo.environment)
        return try ServeSettings(
            host: host ?? environment["HOST"],
            port: try port ?? environment.integer("PORT"),
            store: store ?? environment["STORE"],
            ingestToken: ingestToken ?? environment["INGEST_TOKEN"],
            readToken: readToken ?? environment["READ_TOKEN"],
            allowedHosts: allowedHost.isEmpty ? environment.list("ALLOWED_HOST") : allowedHost,
            retention: retention ?? environment["RETENTION"],
            details: details ?? environment["DETAILS"],
            maxDetails: try maxDetails ?? environment.integer("MAX_DETAILS"),
            maxDetailsBytes: maxDetailsBytes ?? environment["MAX_DETAILS_BYTES"],
            maxStore: maxStore ?? environment["MAX_STORE"],
            tlsCertificate: tlsCertificate ?? environment["TLS_CERTIFICATE"],
            tlsKey: tlsKey ?? environment["TLS_KEY"],
            insecure: try insecure || environment.boolean("INSECURE"))
    }
}
