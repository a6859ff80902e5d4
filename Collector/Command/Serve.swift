import ArgumentParser
import Foundation
import Logging
import MartletSQLiteStorage
import MartletServer
import ServiceLifecycle

struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Takes OTLP over HTTP and answers reports, until SIGINT or SIGTERM.",
        discussion: "Every flag has a variable: MARTLET_COLLECTOR_PORT for --port, and so on. A flag goes first.")

    @Option(help: "The address to listen at. (default: 127.0.0.1)")
    var host: String?

    @Option(help: "The port to listen at; 0 takes a free one. (default: 4318)")
    var port: Int?

    @Option(help: "sqlite:PATH (default: collector.sqlite in $XDG_STATE_HOME/martlet or ~/.local/state/martlet)")
    var store: String?

    @Option(help: "What senders have to give as a bearer token; safer as a variable.")
    var ingestToken: String?

    @Option(help: "What readers of /api and /metrics have to give as a bearer token; safer as a variable.")
    var readToken: String?

    @Option(help: "How long points are kept by their resolution. (default: 10s=6h,1m=7d,1h=400d)")
    var retention: String?

    @Option(help: "How long details of requests are kept. (default: 24h)")
    var details: String?

    @Option(help: "How many details of requests are kept at most. (default: 100000)")
    var maxDetails: Int?

    @Option(help: "PEM file with the certificate to serve https with, and those between it and a root.")
    var tlsCertificate: String?

    @Option(help: "PEM file with the certificate's private key.")
    var tlsKey: String?

    @Flag(help: "Listen beyond loopback without tokens.")
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
            now: SQLiteStorage.systemClock, logger: logger)
        let application = try server.application(at: settings.address) { port in
            Output.line("martlet-collector: listening on \(settings.url(port: port))")
        }
        // The group stops its services in reverse order.
        var configuration = ServiceGroupConfiguration(
            services: [
                StoreMaintenance(storage: storage, logger: logger), application,
                Draining(requests: server.requests, logger: logger),
            ],
            gracefulShutdownSignals: [.sigint, .sigterm], logger: logger)
        configuration.maximumGracefulShutdownDuration = Draining.maxDuration
        let services = ServiceGroup(configuration: configuration)
        try await reportingFailure("cannot serve at \(settings.url(port: settings.address.port)): ") {
            try await services.run()
        }
        try storage.close()
    }

    private func settings() throws -> ServeSettings {
        let environment = CollectorEnvironment(ProcessInfo.processInfo.environment)
        return try ServeSettings(
            host: host ?? environment["HOST"],
            port: try port ?? environment.integer("PORT"),
            store: store ?? environment["STORE"],
            ingestToken: ingestToken ?? environment["INGEST_TOKEN"],
            readToken: readToken ?? environment["READ_TOKEN"],
            retention: retention ?? environment["RETENTION"],
            details: details ?? environment["DETAILS"],
            maxDetails: try maxDetails ?? environment.integer("MAX_DETAILS"),
            tlsCertificate: tlsCertificate ?? environment["TLS_CERTIFICATE"],
            tlsKey: tlsKey ?? environment["TLS_KEY"],
            insecure: try insecure || environment.boolean("INSECURE"))
    }
}
