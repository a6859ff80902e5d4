import Hummingbird
import HummingbirdCore
import HummingbirdTLS
import Logging
import MartletIntake
import MartletStorage
import MartletTelemetry
import NIOCore

/// The collector's HTTP side, with all its routes.
package struct CollectorServer: Sendable {
    package var storage: any Storage
    package var intake = Intake()
    package var tokens = ServerTokens()
    package var limits = ServerLimits()
    /// The certificate and key; `nil` for HTTP without TLS.
    package var tls: ServerTLS?
    /// The names that readers may reach the collector by, if they need no token.
    package var allowedHosts = AllowedHosts()
    /// Returns the current time, from which `since` and `until` of a report are measured.
    package var now: @Sendable () -> UnixNanoseconds
    package var logger: Logger
    /// The requests that must finish before the collector stops.
    package let requests = RequestsInWork()
    private let activity: CollectorActivity

    package init(
        storage: any Storage, activity: CollectorActivity = CollectorActivity(), intake: Intake = Intake(),
        tokens: ServerTokens = ServerTokens(), limits: ServerLimits = ServerLimits(), tls: ServerTLS? = nil,
        allowedHosts: AllowedHosts = AllowedHosts(),
        now: @escaping @Sendable () -> UnixNanoseconds, logger: Logger
    ) {
        self.activity = activity
        self.storage = ObservedStorage(storage: storage, activity: activity, now: now)
        self.intake = intake
        self.tokens = tokens
        self.limits = limits
        self.tls = tls
        self.allowedHosts = allowedHosts
        self.now = now
        self.logger = logger
    }

    /// Returns a service that answers at `address` until it is told to stop, and then finishes the requests in work.
    ///
    /// - Parameter onListening: called once with the bound port, which differs from the port of `address` if that is 0.
    package func application(
        at address: ListenAddress, onListening: @escaping @Sendable (Int) -> Void = { _ in }
    ) throws -> some ApplicationProtocol {
        Application(
            router: router(),
            server: try tls.map { try .tls(http, tlsConfiguration: $0.configuration) } ?? http,
            configuration: ApplicationConfiguration(
                address: .hostname(address.host, port: address.port), serverName: "martlet-collector",
                availableConnectionsDelegate: .maximum(limits.maxConnections, logger: logger)),
            onServerRunning: { channel in onListening(channel.localAddress?.port ?? address.port) },
            logger: logger)
    }

    private var http: HTTPServerBuilder {
        let (limits, maxBodyBytes) = (limits, intake.limits.maxBodyBytes)
        let configuration = HTTP1Channel.Configuration(
            additionalChannelHandlers: [
                ClientWatch(), BodyDeadline(limits.bodyTimeout), AnswerDeadline(limits.answerTimeout),
                ContinueHandler(maxBodyBytes: maxBodyBytes),
            ],
            idleTimeout: TimeAmount(limits.idleTimeout),
            httpDecoderConfiguration: HTTP1Channel.Configuration.DecoderConfiguration(
                maxHeaderFieldSize: limits.maxHeaderBytes, maxHeaderListSize: limits.maxHeaderBytes,
                maxHeaderFieldCount: limits.maxHeaderFields))
        return HTTPServerBuilder { responder in
            EventLoopChannel(base: HTTP1Channel(responder: responder, configuration: configuration))
        }
    }

    func router() -> Router<CollectorRequestContext> {
        let router = Router(context: CollectorRequestContext.self, options: .autoGenerateHeadEndpoints)
        router.add(middleware: HeadMiddleware())
        router.add(middleware: SecurityHeaders())
        router.add(middleware: IngestCounting(activity: activity))
        router.add(middleware: PlainFailures())
        HealthRoutes(storage: storage, requests: requests, logger: logger).add(to: router)
        router.add(middleware: DrainingMiddleware(requests: requests))
        IngestRoutes(storage: storage, intake: intake, room: IngestRoom(limits), activity: activity, logger: logger)
            .add(to: router, token: tokens.ingest)
        addReaders(to: router.group())
        return router
    }

    /// Adds the routes of people and programs that read.
    private func addReaders(to group: RouterGroup<CollectorRequestContext>) {
        let access = ReaderAccess(token: tokens.read, sessions: Sessions(now: now), isTLS: tls != nil)
        // With a token nobody else reads, whatever name a browser was given.
        if tokens.read == nil { group.add(middleware: AllowedHostMiddleware(hosts: allowedHosts)) }
        ReadRoutes(storage: storage, limiter: ReadLimiter(limits), now: now, logger: logger)
            .add(to: group, access: access)
        PageRoutes(storage: storage, limiter: ReadLimiter(limits), now: now, logger: logger, access: access)
            .add(to: group)
        LoginRoutes(access: access, attempts: LoginAttempts(now: now)).add(to: group)
        // The metrics have a limiter of their own, so that Prometheus does not wait for long reports.
        MetricsRoute(storage: storage, limiter: ReadLimiter(limits), activity: activity, now: now)
            .add(to: group, access: access)
    }
}
