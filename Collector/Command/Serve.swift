import ArgumentParser
import Foundation
import Logging
import MartletClickHouseStorage
import MartletFindings
import MartletNotifications
import MartletSQLiteStorage
import MartletServer
import MartletStorage
import ServiceLifecycle
import UnixSignals

struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Receives OTLP over HTTP and serves reports, until SIGINT or SIGTERM.",
        discussion: """
            Each flag can also be set as an environment variable, such as MARTLET_COLLECTOR_PORT for --port. The flag takes \
            precedence.
            """)

    @Option(help: "The address to listen on.")
    var host = "127.0.0.1"

    @Option(help: "The port to listen on; 0 chooses a free one.")
    var port = 4318

    @Option(
        help: "A separate port for only /healthz, /readyz and /metrics, on the same address; a separate thread answers."
    )
    var adminPort: Int?

    @Option(
        help: """
            The store, sqlite:PATH or clickhouse:http://HOST:8123/DATABASE. (default: collector.sqlite in \
            $XDG_STATE_HOME/martlet or ~/.local/state/martlet)
            """
    )
    var store: String?

    @Option(help: "The bearer token that senders must give; safer as the variable MARTLET_COLLECTOR_INGEST_TOKEN.")
    var ingestToken: String?

    @Option(help: "A file with more ingest tokens, one per line; reloaded at SIGHUP.")
    var ingestTokenFile: String?

    @Option(
        help:
            "The bearer token that readers of /api and /metrics must give; safer as the variable MARTLET_COLLECTOR_READ_TOKEN."
    )
    var readToken: String?

    @Option(
        help: """
            A file with more read tokens, one per line: a name, the token, and read-only if it must not clear requests; reloaded at \
            SIGHUP.
            """)
    var readTokenFile: String?

    @Option(
        help: """
            A host name by which browsers and readers may reach the collector, in addition to addresses and names without a dot; \
            may be repeated. It is only used without a read token.
            """)
    var allowedHost: [String] = []

    @Option(help: "How long points of each resolution are kept.")
    var retention = RetentionOption.usual

    @Option(help: "How long details of requests (spans) are kept.")
    var details = "7d"

    @Option(help: "Maximum number of details (spans) to keep. (default: 100000)")
    var maxDetails: Int?

    @Option(help: "Maximum size of the details to keep, such as 500MiB. (default: 1GiB)")
    var maxDetailsBytes: String?

    @Option(
        help: """
            Maximum size of the store's pages in use. Beyond it the collector deletes the oldest details, then the oldest points \
            of 10 s and of minutes. (default: 10GiB)
            """)
    var maxStore: String?

    @Option(
        help: """
            Maximum number of cumulative streams to remember. Beyond it a new stream replaces those that were silent for an hour; \
            until there are any, it is not counted. (default: 100000)
            """)
    var maxCumulativeStreams: Int?

    @Option(help: "PEM file with the server's certificate, followed by any intermediate certificates; turns on https.")
    var tlsCertificate: String?

    @Option(help: "PEM file with the certificate's private key, without a passphrase.")
    var tlsKey: String?

    @Option(help: "Maximum number of connections at a time. (default: 50000)")
    var maxConnections: Int?

    @Option(help: "The lowest level to log: trace, debug, info, notice, warning, error, critical.")
    var logLevel = "info"

    @Option(help: "The format of the log: text or json.")
    var logFormat = "text"

    @Option(
        help: """
            The longest interval at which a Prometheus scrapes. A new series of requests shows 0 for one and a half of it, so that \
            Prometheus counts the requests from the first one on.
            """)
    var scrapeInterval = "1m"

    @Option(
        help: """
            The URL of a webhook that gets a message when a finding opens and when it ends; may be repeated. If the URL is a \
            secret, put it into a file, because other users of this machine can see flags.
            """)
    var notify: [String] = []

    @Option(help: "A file with more webhooks, one per line: a URL, and after a space its bearer token if it needs one.")
    var notifyFile: String?

    @Flag(help: "Allow other machines to connect even if a token is missing.")
    var insecure = false

    func validate() throws {
        for (name, wrapper) in CollectorEnvironment.flags(of: self) {
            let text = (wrapper as? Option<String>)?.wrappedValue ?? (wrapper as? Option<String?>)?.wrappedValue
            try CollectorEnvironment.refuseEmpty(text, name)
        }
    }

    func run() async throws {
        let environment = CollectorEnvironment()
        let settings = try Self.settings(environment, CommandLine.arguments.dropFirst())
        let activity = CollectorActivity(scrapeInterval: settings.scrapeInterval)
        settings.log.bootstrap()
        let logger = Logger(label: "martlet-collector")
        for name in environment.unknown {
            logger.warning("\(name) is not a variable of the collector; check its spelling")
        }
        let storage = try await reportingFailure { try await open(settings, activity, logger) }
        let server = CollectorServer(
            storage: storage, activity: activity, tokens: settings.tokens,
            limits: settings.limitsInForce(logger),
            tls: settings.tls, allowedHosts: AllowedHosts(settings.allowedHosts),
            now: SystemClock.now, logger: logger)
        let (listening, listens) = AsyncStream.makeStream(of: Void.self)
        let application = try server.application(at: settings.address) { port in
            Output.line("martlet-collector: listening on \(settings.url(port: port))")
            listens.yield()
        }
        let admin = try settings.adminAddress.map { address in
            let service = try server.adminService(at: address) { port in
                Output.line("martlet-collector: health and metrics on \(settings.url(port: port))")
                listens.yield()
            }
            return ListeningService(service: service, url: settings.url(port: address.port))
        }
        let notifier = try reportingFailure { try makeNotifier(settings, server.storage, activity, logger) }
        let manager = ServiceManager(ProcessInfo.processInfo.environment, logger: logger)
        // The group stops its services in reverse order.
        let services: [(any Service)?] = [
            manager.watchdog.map { Watchdog(manager: manager, period: $0) },
            ReloadOnHangup(tokens: settings.tokenSource, tls: settings.tls, logger: logger),
            StoreMaintenance(storage: server.storage, logger: logger),
            notifier, FindingsService(watch: server.findings, notifier: notifier, logger: logger), admin,
            ListeningService(service: application, url: settings.url(port: settings.address.port)),
            Draining(requests: server.requests, logger: logger),
            ReadinessNotifier(manager: manager, listening: listening, addresses: admin == nil ? 1 : 2),
        ]
        var configuration = ServiceGroupConfiguration(
            services: services.compactMap(\.self), gracefulShutdownSignals: [.sigint, .sigterm], logger: logger)
        configuration.maximumGracefulShutdownDuration = Draining.maxDuration
        let group = ServiceGroup(configuration: configuration)
        try await reportingFailure { try await group.run() }
        // The log has everything that the file lacks, and the next start reads it.
        do { try (storage as? SQLiteStorage)?.close() } catch {
            logger.warning("the store's log could not be merged into its file", metadata: ["error": "\(error)"])
        }
    }

    private func open(
        _ settings: ServeSettings, _ activity: CollectorActivity, _ logger: Logger
    ) async throws -> any Storage {
        switch settings.store {
        case .sqlite(let path): return try SQLiteStorage(path: path, limits: settings.limits, onStored: activity.add)
        case .clickHouse(let location):
            let credentials = try StoreLocation.credentials()
            return try await waiting(logger) {
                try await ClickHouseStorage(
                    at: location, credentials, limits: settings.clickHouseLimits, now: SystemClock.now,
                    onStored: activity.add)
            }
        }
    }

    /// Returns the notifier; `nil` without webhooks.
    private func makeNotifier(
        _ settings: ServeSettings, _ storage: any Storage, _ activity: CollectorActivity, _ logger: Logger
    ) throws -> Notifier? {
        guard !settings.receivers.isEmpty else { return nil }
        let tls = try ClientTLS.ofWebhooks(ProcessInfo.processInfo.environment)
        return Notifier(settings.receivers, storage: storage, tls: tls, logger: logger) { activity.note($0, of: $1) }
    }

    /// Opens a store on ClickHouse, and waits for servers that do not answer yet. SIGTERM during the wait ends the process.
    private func waiting(
        _ logger: Logger, for open: () async throws -> ClickHouseStorage
    ) async throws -> ClickHouseStorage {
        while true {
            do { return try await open() } catch let error as ClickHouseError where error.isAway {
                logger.warning("waiting for ClickHouse", metadata: ["error": "\(error)"])
            }
            try await Task.sleep(for: .seconds(2))
        }
    }

    /// Returns the settings from the command line, or from the variables for flags that are not given.
    private static func settings(
        _ environment: CollectorEnvironment, _ arguments: ArraySlice<String>
    ) throws -> ServeSettings {
        let given = arguments.first == "serve" ? arguments.dropFirst() : arguments
        do {
            return try ServeSettings(parse(environment.serveFlags(besides: given) + given))
        } catch let error as ValidationError {
            throw ValidationError(environment.sentence(error.message, besides: given))
        }
    }
}

/// A service that listens at an address. If it fails to, its error names the address, because the collector may have two.
struct ListeningService: Service {
    let service: any Service
    let url: String

    func run() async throws {
        do { try await service.run() } catch is CancellationError {
            throw CancellationError()
        } catch {
            throw ServingFailure(description: "cannot serve at \(url): \(error)")
        }
    }
}

struct ServingFailure: Error, CustomStringConvertible {
    var description: String
}

/// The service that stops first. It finishes the current requests while the server still listens, so `/readyz` can answer that
/// the collector is stopping.
struct Draining: Service {
    /// The time from SIGTERM to the end of the server. Requests unfinished by then are cut off, and senders send them again.
    static let maxDuration = Duration.seconds(10)

    let requests: RequestDrain
    let logger: Logger

    func run() async throws {
        // This throws if another service failed. Then there are no requests to finish.
        do { try await gracefulShutdown() } catch { return }
        logger.info("stopping once the requests in progress are answered")
        await requests.drain()
        if Task.isCancelled { logger.warning("cancelling requests that did not end within \(Self.maxDuration)") }
    }
}

/// Reloads the files of tokens and of the certificate at each SIGHUP. If a file is faulty, its earlier contents stay in use.
struct ReloadOnHangup: Service {
    let tokens: TokenSource
    let tls: ServerTLS?
    let logger: Logger

    func run() async throws {
        for await _ in await UnixSignalsSequence(trapping: .sighup).cancelOnGracefulShutdown() {
            reload("the ingest tokens") { try tokens.reloadIngest() }
            reload("the read tokens") { try tokens.reloadRead() }
            reload("the certificate and its key") { try tls?.reload() }
        }
        try? await gracefulShutdown()
    }

    private func reload(_ subject: String, _ read: () throws -> Void?) {
        do {
            guard try read() != nil else { return }
            // A notice would be limited to one a minute, but whoever sent the signal waits for this line.
            logger.info("\(subject) were reloaded")
        } catch {
            logger.error("\(subject) could not be reloaded, and stay unchanged", metadata: ["error": "\(error)"])
        }
    }
}

/// Makes the watch read each minute soon after its end, until the collector stops, and hands its findings to the notifier. At the
/// start it reads the last three hours.
private struct FindingsService: Service {
    let watch: FleetWatch
    let notifier: Notifier?
    let logger: Logger

    func run() async throws {
        try? await cancelWhenGracefulShutdown {
            while true {
                do {
                    try await watch.tick(now: SystemClock.now())
                    await notifier?.take(watch.present(), now: SystemClock.now())
                } catch is CancellationError {
                    return
                } catch {
                    logger.error("findings could not be computed or stored", metadata: ["error": "\(error)"])
                }
                try await Task.sleep(for: .nanoseconds(FleetWatch.timeToNextTick(now: SystemClock.now())))
            }
        }
        // If this service returned before the others, it would stop them all.
        try? await gracefulShutdown()
    }
}
