import HTTPTypes
import Hummingbird
import Logging
import MartletFindings
import MartletPage
import MartletReports
import MartletStorage
import MartletTelemetry

/// The page at `/` and its views.
struct PageRoutes: Sendable {
    let storage: any Storage
    let histories: RowHistories
    let watch: FleetWatch
    let limiter: ReadLimiter
    let now: @Sendable () -> UnixNanoseconds
    let logger: Logger
    let access: ReaderAccess

    func add(to router: RouterGroup<CollectorRequestContext>) {
        for file in PageAssets.all {
            router.get(RouterPath(file.path)) { _, _ in Response(file) }
            router.refuseOtherMethods(at: RouterPath(file.path))
        }
        let group = router.group()
        group.add(middleware: LongWorkMiddleware())
        group.add(middleware: ReaderMiddleware(access: access, sessionsMayChange: true) { LoginRoutes.form($0) })
        group.add(middleware: ReadLimiterMiddleware(limiter: limiter))
        view("/", of: group) { request, _ in
            let pageRequest = try pageRequest(.overview, request)
            try await watch.catchUp(now: now())
            let findings = await watch.findings(pageRequest.findingsQuestion)
            return try await Overview(pageRequest, in: storage, histories, findings: findings).html
        }
        view("/endpoint", of: group) { request, _ in
            let pageRequest = try pageRequest(.endpoint, request)
            let findings = await watch.findings(pageRequest.findingsQuestion)
            return try await Endpoint(pageRequest, in: storage, histories, findings: findings).html
        }
        view("/requests", of: group) { request, _ in
            try await RequestList(try pageRequest(.requests, request), in: storage).html
        }
        view("/requests/:id", of: group) { request, context in
            let id = try context.parameters.require("id")
            let pageRequest = pageRequest(try RequestPage.pageRequest(id, request.queryPairs, now: now()), by: request)
            return try await RequestPage(id, pageRequest, in: storage).html
        }
        view("/traces/:id", of: group) { request, context in
            let id = try context.parameters.require("id")
            let pageRequest = pageRequest(try TracePage.pageRequest(id, request.queryPairs, now: now()), by: request)
            return try await TracePage(id, pageRequest, in: storage).html
        }
        view("/requests/clear", of: group, withMethods: [.get, .post]) { request, context in
            guard context.reader?.mayClear ?? true else { throw ClearingRefused() }
            return try await ClearPage(try pageRequest(ClearPage.address, request), in: storage).html
        }
        view("/map", of: group) { request, _ in
            try await ServiceMap(try pageRequest(.map, request), in: storage).html
        }
        view("/agents", of: group) { request, _ in
            try await AgentList(try pageRequest(.agents, request), in: storage).html
        }
        addClearing(to: group)
    }

    /// The only address of the page that changes something.
    private func addClearing(to group: RouterGroup<CollectorRequestContext>) {
        let guarded = group.group()
        guarded.add(
            middleware: SameOriginMiddleware {
                Response(
                    page: RefusalPage.html(
                        "Nothing was deleted", "The request came from a page of another site. Clear from this one."),
                    status: .forbidden)
            })
        guarded.post("/requests/clear") { request, context in
            try await answer(to: request) {
                guard context.reader?.mayClear ?? true else { throw ClearingRefused() }
                let pageRequest = try pageRequest(ClearPage.address, request)
                let removed = try await storage.removeDetails()
                logger.noteRemoval(of: removed, context)
                let address = ClearPage.address(after: removed, pageRequest)
                return Response(status: .seeOther, headers: [.location: address.text])
            }
        }
    }

    private typealias View = @Sendable (Request, CollectorRequestContext) async throws -> HTML

    /// - Parameter methods: the methods of the path. Other methods have their own routes.
    private func view(
        _ path: RouterPath, of group: RouterGroup<CollectorRequestContext>,
        withMethods methods: [HTTPRequest.Method] = [.get], _ view: @escaping View
    ) {
        group.get(path) { request, context in
            try await answer(to: request) {
                Response(
                    page: try await context.reading(within: limiter.readTimeout) { try await view(request, context) })
            }
        }
        group.refuseOtherMethods(at: path, than: methods, Self.refusal)
    }

    /// The page for a method that a path does not have.
    @Sendable static func refusal(_ sentence: String) -> Response {
        Response(page: RefusalPage.html("Method not allowed", sentence))
    }

    private func pageRequest(_ address: PageAddress, _ request: Request) throws -> PageRequest {
        pageRequest(try PageRequest(address, request.queryPairs, now: now()), by: request)
    }

    /// Returns a request with the facts that are not in its address.
    private func pageRequest(_ pageRequest: PageRequest, by request: Request) -> PageRequest {
        var pageRequest = pageRequest
        pageRequest.collectorFlags = CollectorFlags.asking(request.head.authority, isTLS: access.isTLS)
        let scheme = HTTPField.Name("X-Forwarded-Proto").flatMap { request.headers[$0] }
        if let address = CollectorFlags.address(request.head.authority, isTLS: access.isTLS, forwarded: scheme) {
            pageRequest.collectorAddress = address
        }
        let session = access.session(of: request)
        (pageRequest.isSignedIn, pageRequest.mayClear) = (session != nil, session?.token.mayClear ?? true)
        return pageRequest
    }

    private func answer(to request: Request, _ work: () async throws -> Response) async throws -> Response {
        do {
            return try await work()
        } catch let error as ParameterError {
            return Response(page: RefusalPage.html(error, in: request.queryPairs), status: .badRequest)
        } catch let error as TooManyGroups {
            return Response(page: RefusalPage.html("Too much to show", error.description), status: .badRequest)
        } catch let error as UnknownRequest {
            return Response(page: RefusalPage.html(error, in: request.queryPairs), status: .notFound)
        } catch let error as UnknownTrace {
            return Response(page: RefusalPage.html("Not found", error.description), status: .notFound)
        } catch is ClearingRefused {
            return Response(
                page: RefusalPage.html("Nothing was deleted", "Your token may only read."), status: .forbidden)
        } catch let error as ReadTimeout {
            return Response(
                page: RefusalPage.html("This takes too long", error.description), status: .serviceUnavailable)
        } catch let error as CancellationError {
            throw error
        } catch {
            logger.error("the store could not be read", metadata: ["error": "\(error)"])
            return Response(
                page: RefusalPage.html(
                    "The store could not be read", "Try again in a moment; the collector's log has the cause."),
                status: .serviceUnavailable)
        }
    }
}

/// The error of a reader who may not delete the kept requests.
private struct ClearingRefused: Error {}

extension Response {
    /// The page loads only its own files, runs only its own script, and is shown in no frame (CSP Level 3).
    private static let policy = """
        default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; \
        base-uri 'none'; frame-ancestors 'none'
        """

    init(page: HTML, status: HTTPResponse.Status = .ok) {
        self.init(
            status: status,
            headers: [.contentType: "text/html; charset=utf-8", .contentSecurityPolicy: Self.policy],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: page.bytes)))
    }

    /// The address of a file changes with its contents, so a browser may keep it for a year.
    fileprivate init(_ file: PageAssets.File) {
        self.init(
            status: .ok,
            headers: [.contentType: file.contentType, .cacheControl: "public, max-age=31536000, immutable"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: file.bytes)))
    }
}

/// The collector's address and the flags for the commands on the page.
enum CollectorFlags {
    /// The addresses that commands query without a flag.
    private static let defaults: Set = ["127.0.0.1:4318", "localhost:4318"]

    /// Returns the flags with which a command queries the collector that served a page.
    ///
    /// - Parameter authority: the request's `Host`. One without a port may be a proxy's. Nobody knows whether that proxy has
    ///   TLS, so it gets no flags.
    static func asking(_ authority: String?, isTLS: Bool) -> [CommandFlag] {
        guard let authority, isTLS || !defaults.contains(authority), AllowedHosts.host(of: authority) != nil,
            !AllowedHosts.parts(of: authority).port.isEmpty
        else { return [] }
        return [CommandFlag("collector", url(authority, isTLS))]
    }

    /// Returns the address by which a request reached the collector; `nil` if its `Host` is neither a name nor an address.
    ///
    /// - Parameter scheme: the request's scheme in front of a proxy, `X-Forwarded-Proto`; `nil` without one.
    static func address(_ authority: String?, isTLS: Bool, forwarded scheme: String?) -> String? {
        guard let authority, AllowedHosts.host(of: authority) != nil else { return nil }
        return url(authority, isTLS || scheme?.lowercased() == "https")
    }

    private static func url(_ authority: String, _ isTLS: Bool) -> String {
        "\(isTLS ? "https" : "http")://\(authority)"
    }
}
