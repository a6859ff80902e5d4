import Hummingbird
import HummingbirdCore
import HummingbirdTLS
import Logging
import MartletFindings
import MartletIntake
import MartletReports
import MartletStorage
import MartletTelemetry
import NIOCore
import NIOPosix
import ServiceLifecycle

/// The collector's HTTP server, with all its routes.
package struct CollectorServer: Sendable {
    package let storage: any Storage
    private var intake: Intake
    private let tokens: ServerTokens
    private let limits: ServerLimits
    /// The certificate and key; `nil` for HTTP without TLS.
    private let tls: ServerTLS?
    /// The names by which readers may reach the collector, if they need no token.
    private let allowedHosts: AllowedHosts
    /// Returns the current time, from which `since` and `until` of a report are measured, and the accepted times of telemetry.
    private let now: @Sendable () -> UnixNanoseconds
    private let logger: Logger
    /// The requests that must finish before the collector stops.
    package let requests = RequestDrain()
    /// The findings of the store's fleets. Whoever runs the server makes it tick; without ticks nothing is found.
    package let findings: FleetWatch
    private let activity: CollectorActivity
    private let refusals: RefusedSenders
    private let attempts: TokenAttempts
    private let sessions: Sessions
    /// The metrics have a separate limiter, so that Prometheus does not wait for long reports.
    private let metricsLimiter: ReadLimiter

    package init(
        storage: any Storage, activity: CollectorActivity = CollectorActivity(), intake: Intake = Intake(),
        tokens: ServerTokens = ServerTokens(), limits: ServerLimits = ServerLimits(), tls: ServerTLS? = nil,
        allowedHosts: AllowedHosts = AllowedHosts(),
        now: @escaping @Sendable () -> UnixNanoseconds, logger: Logger
    ) {
        self.activity = activity
        refusals = RefusedSenders(now: now)
        self.storage = ObservedStorage(storage: storage, activity: activity, refusals: refusals, now: now)
        findings = FleetWatch(
            of: storage, as: String(UInt64.random(in: 0 ... .max), radix: 16), late: activity.late)
        self.intake = intake
        self.intake.times = { storage.longestAge.map { AcceptedTimes(at: now(), upToAge: $0) } ?? .all }
        self.tokens = tokens
        self.limits = limits
        self.tls = tls
        self.allowedHosts = allowedHosts
        self.now = now
        self.logger = logger
        attempts = TokenAttempts(now: now)
        sessions = Sessions(now: now)
        metricsLimiter = ReadLimiter(limits)
    }

    /// Returns a service that answers at `address` until it is stopped, and then finishes the requests in progress.
    ///
    /// - Parameter onListening: called once with the bound port, which differs from the port of `address` if that is 0.
    package func application(
        at address: ListenAddress, onListening: @escaping @Sendable (Int) -> Void = { _ in }
    ) throws -> some ApplicationProtocol {
        // Without an ingest token, no connection ever authenticates. Then the limit does not apply: no connection is closed for
        // a new one, even while a few connections more than the limit are accepted.
        let bound =
            tokens.ingest == nil ? Int.max : min(limits.maxUnauthenticatedConnections, limits.maxConnections / 2)
        let unauthenticated = UnauthenticatedConnections(most: bound)
        return try application(
            router(unauthenticated), unauthenticated, at: address, on: MultiThreadedEventLoopGroup.singleton,
            onListening)
    }

    /// Returns a service that answers only health and metrics. It runs on a separate thread, so that reports and large batches
    /// do not delay it. The main address has the same routes.
    ///
    /// - Parameter onListening: see ``application(at:onListening:)``.
    package func adminService(
        at address: ListenAddress, onListening: @escaping @Sendable (Int) -> Void
    ) throws -> some Service {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let unauthenticated = UnauthenticatedConnections(most: limits.maxAdminConnections)
        return OwnThreadService(
            base: try application(adminRouter(unauthenticated), unauthenticated, at: address, on: group, onListening),
            group: group)
    }

    private func application(
        _ router: Router<CollectorRequestContext>, _ unauthenticated: UnauthenticatedConnections,
        at address: ListenAddress,
        on group: any EventLoopGroup, _ onListening: @escaping @Sendable (Int) -> Void
    ) throws -> some ApplicationProtocol {
        let http = http(unauthenticated)
        return Application(
            router: router,
            server: try tls.map { try .tls(http, tlsConfiguration: $0.configuration) } ?? http,
            configuration: ApplicationConfiguration(
                address: .hostname(address.host, port: address.port), serverName: "martlet-collector",
                backlog: ServerLimits.backlog,
                availableConnectionsDelegate: .maximum(limits.maxConnections, logger: logger)),
            onServerRunning: { channel in onListening(channel.localAddress?.port ?? address.port) },
            eventLoopGroupProvider: .shared(group), logger: logger)
    }

    private func http(_ unauthenticated: UnauthenticatedConnections) -> HTTPServerBuilder {
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
            EventLoopChannel(
                base: HTTP1Channel(responder: responder, configuration: configuration), unauthenticated: unauthenticated
            )
        }
    }

    private func router(_ unauthenticated: UnauthenticatedConnections) -> Router<CollectorRequestContext> {
        let gate = gate(unauthenticated)
        let router = baseRouter(takesTelemetry: true)
        router.add(middleware: DrainingMiddleware(requests: requests))
        IngestRoutes(
            storage: storage, intake: intake, room: IngestMemory(limits), activity: activity, refusals: refusals,
            logger: logger
        ).add(to: router, tokens: tokens.ingest, gate: gate)
        addReaders(to: router.group(), access(gate))
        return router
    }

    private func adminRouter(_ unauthenticated: UnauthenticatedConnections) -> Router<CollectorRequestContext> {
        let router = baseRouter(takesTelemetry: false)
        addMetrics(to: readers(router.group()), access(gate(unauthenticated)))
        return router
    }

    /// Returns the part that both addresses share.
    private func baseRouter(takesTelemetry: Bool) -> Router<CollectorRequestContext> {
        let router = Router(context: CollectorRequestContext.self, options: .autoGenerateHeadEndpoints)
        router.add(middleware: HeadMiddleware())
        router.add(middleware: SecurityHeaders())
        if takesTelemetry {
            router.add(middleware: StoreMiddleware(id: storage.id))
            router.add(middleware: IngestCounting(activity: activity))
            router.add(middleware: LostTelemetry(logger: logger))
        }
        router.add(middleware: PlainFailures(takesTelemetry: takesTelemetry))
        HealthRoutes(storage: storage, requests: requests).add(to: router)
        return router
    }

    private func gate(_ unauthenticated: UnauthenticatedConnections) -> TokenGate {
        TokenGate(attempts: attempts, unauthenticated: unauthenticated, delay: limits.delayAfterWrongTokens)
    }

    private func access(_ gate: TokenGate) -> ReaderAccess {
        ReaderAccess(tokens: tokens.read, sessions: sessions, isTLS: tls != nil, gate: gate)
    }

    /// Adds the routes for people and programs that read.
    private func addReaders(to group: RouterGroup<CollectorRequestContext>, _ access: ReaderAccess) {
        let (group, limiter) = (readers(group), ReadLimiter(limits))
        let histories = RowHistories(of: storage)
        APIRoutes(
            storage: storage, histories: histories, watch: findings, limiter: limiter, now: now, logger: logger
        ).add(to: group, access: access)
        PageRoutes(
            storage: storage, histories: histories, watch: findings, limiter: limiter, now: now, logger: logger,
            access: access
        ).add(to: group)
        LoginRoutes(access: access).add(to: group)
        addMetrics(to: group, access)
    }

    private func readers(_ group: RouterGroup<CollectorRequestContext>) -> RouterGroup<CollectorRequestContext> {
        // If there is a read token, any name of the collector will do: only holders of the token can read.
        if tokens.read == nil { group.add(middleware: AllowedHostMiddleware(hosts: allowedHosts)) }
        return group
    }

    private func addMetrics(to group: RouterGroup<CollectorRequestContext>, _ access: ReaderAccess) {
        MetricsRoute(storage: storage, limiter: metricsLimiter, activity: activity, watch: findings, now: now).add(
            to: group, access: access)
    }
}
