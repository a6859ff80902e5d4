public import Foundation
public import Logging

/// Every setting of the agent. ``MartletAgent/start()`` reads them from the environment. The comment of each property names
/// its variable, and `docs/configuration.md` has all of them in one table.
public struct MartletConfiguration: Sendable {
    /// Whether the agent works. If not, it hooks nothing, starts no thread and writes no file. `MARTLET_ENABLED`, default
    /// `true`.
    public var isEnabled = true
    /// The service's name (`service.name`). `MARTLET_SERVICE_NAME`, default the executable's name.
    public var serviceName = ProcessInfo.processInfo.processName
    /// The service's version (`service.version`). `MARTLET_SERVICE_VERSION`, default none.
    public var serviceVersion: String?
    /// The service's environment (`deployment.environment.name`). `MARTLET_ENVIRONMENT`, default none.
    public var environment: String?
    /// Further attributes of the resource. Each batch carries at most 64 of them for other programs, with their texts
    /// cut at 2 KiB. They override the attributes that the agent detects, and `host.name` overrides the name of the
    /// host. The names of the three properties above, `service.instance.id` and `process.pid` have no effect here.
    /// `OTEL_RESOURCE_ATTRIBUTES`, default none.
    public var resourceAttributes: [String: String] = [:]
    /// The collectors' addresses; `/v1/metrics` and `/v1/traces` are appended. `MARTLET_ENDPOINT`, default
    /// `http://127.0.0.1:4318`.
    ///
    /// If there are several, each process prefers one, and sends to another while the preferred one accepts no batches.
    /// All should share one store: if a collector may already have a batch, the batch goes to another only if both name
    /// the same store. An empty list means the default.
    public var collectors = [defaultCollector] {
        didSet { if collectors.isEmpty { collectors = [Self.defaultCollector] } }
    }
    static let defaultCollector = URL(string: "http://127.0.0.1:4318") ?? URL(fileURLWithPath: "/")
    /// The collector's address, for a service with one; the first of ``collectors``. Setting it replaces all of them.
    public var collector: URL {
        get { collectors.first ?? Self.defaultCollector }
        set { collectors = [newValue] }
    }
    /// The token that uploads send as `Authorization: Bearer …`, never logged. `MARTLET_TOKEN`, default none.
    public var token: String? {
        get { secretToken.value }
        set { secretToken.value = newValue }
    }
    private var secretToken = Secret<String?>(nil)
    /// Further header fields of uploads, such as a vendor's key. `MARTLET_HEADERS`, default none. No log or description
    /// shows the values. ``token`` takes precedence over an `Authorization` here. The agent leaves out a field that it
    /// sets itself (`Content-Type`, `Host`, `Martlet-*` and others), and a value that is empty or has characters other
    /// than visible ASCII, blanks and tabs. The start logs a warning about it.
    public var headers: [String: String] {
        get { secretHeaders.value }
        set { secretHeaders.value = newValue }
    }
    private var secretHeaders = Secret<[String: String]>([:])
    /// Whether the start makes ``MartletAgent/tracer`` the process's tracer. Turn it off if the service calls
    /// `InstrumentationSystem.bootstrap(_:)` itself, because a second call traps. `MARTLET_TRACING`, default `true`.
    public var bootstrapsTracing = true
    /// The sessions whose requests are captured. `MARTLET_CAPTURE`, default `automatic`.
    public var capture = Capture.automatic
    /// Globs on `host[:port][/path]` that select the requests to capture. `*` matches any characters: `*.example.com`,
    /// `api.example.com:8443/internal/*`. A missing part matches everything. `MARTLET_INCLUDE`, default all.
    public var include: [String] = []
    /// Globs of the requests to exclude, in the form of ``include``. They take precedence over it. `MARTLET_EXCLUDE`,
    /// default none.
    public var exclude: [String] = []
    /// Path templates that name endpoints; the first match wins. `MARTLET_ENDPOINTS`, default none.
    ///
    /// `{name}`, `:name` and `*` match one segment. `*` and `**` at the end match all remaining segments, at least one:
    /// `/users/{id}/files/**`. A template that can match no path is ignored.
    public var endpoints: [String] = []
    /// Names the endpoint of a request, if ``endpoints`` are not enough. If it returns `nil` or an empty name, Martlet
    /// names the endpoint. Default none.
    ///
    ///     configuration.name = { $0.path.hasPrefix("/graphql") ? "/graphql" : nil }
    ///
    /// It is called at the end of every request, except calls of databases and message brokers, on the service's time,
    /// on any thread and on several at once. It should take only microseconds and wait for nothing. The agent holds no
    /// lock meanwhile. Requests that the closure makes are counted without calling it. Each name counts towards
    /// ``maxEndpoints``, so return only a few distinct names.
    public var name: (@Sendable (MartletTarget) -> String?)?
    /// Excludes requests in addition to ``exclude``: those for which it returns `true` are not counted and carry no
    /// trace. Unlike the patterns, it also applies to requests that the service receives. It is called under the same
    /// conditions as ``name``: at the start of a `URLSession` request and again when it continues after a challenge,
    /// and at the end of any other request, also of a call of a database or a message broker. Default none.
    public var ignore: (@Sendable (MartletTarget) -> Bool)?
    /// The maximum number of distinct endpoints of outgoing requests, of incoming ones, and of calls of databases and message
    /// brokers. Requests to a further one are counted under `{other}` of the host.
    /// `MARTLET_MAX_ENDPOINTS`, default 1000.
    public var maxEndpoints = 1000
    /// The share of traces whose details are kept, 0...1, decided by trace id. Counts and distributions are exact at any
    /// rate. `MARTLET_SAMPLE_RATE`, default 0.1.
    public var sampleRate = defaultSampleRate
    static let defaultSampleRate = 0.1
    /// Whether the details of failed requests are kept at any rate. `MARTLET_KEEP_FAILURES`, default `true`.
    public var keepFailures = true
    /// The duration from which a request's details are kept at any rate. `MARTLET_SLOW`, default 1 s.
    public var slow = Duration.seconds(1)
    /// Whether `traceparent` and `tracestate` are sent with requests that have none (W3C Trace Context).
    /// `MARTLET_PROPAGATE`, default `true`.
    public var propagate = true
    /// Globs of the targets that get `traceparent` and `tracestate`, in the form of ``include``. Each hop of a redirect is
    /// judged for itself. `MARTLET_PROPAGATE_TO`, default all.
    public var propagateTo: [String] = []
    /// Whether a remote caller's `traceparent` decides if the details of its trace are kept. If not, the service decides at
    /// ``sampleRate``, whatever the caller sends; the trace goes on all the same. Turn it off for a service that the
    /// public can call. `MARTLET_TRUST_CALLERS`, default `true`.
    public var trustCallers = true
    /// Whether the caller's flag is ignored and the trace id decides, for samplers of OpenTelemetry that are not
    /// `parentbased_…`.
    var ignoresCallersFlag = false
    /// Whether kept details show paths unchanged. If not, segments that are values are removed, except plain numbers
    /// and UUIDs. `MARTLET_CAPTURE_PATHS`, default `false`.
    public var capturePaths = false
    /// The header fields in kept details. `MARTLET_CAPTURE_HEADERS`, default none.
    public var captureHeaders = CapturedHeaders.none {
        didSet { captureHeaders = captureHeaders.lowercased }
    }
    /// The bodies in kept details. `MARTLET_CAPTURE_BODIES`, default none.
    public var captureBodies = CapturedBodies.none
    /// Bytes of each body that are kept, at most 1 MiB. `MARTLET_BODY_LIMIT`, default 4 KiB.
    public var bodyLimit = 4 << 10 {
        didSet { bodyLimit = min(max(bodyLimit, 0), MartletLimits.bodyLimit) }
    }
    /// Names of header fields, form parameters and JSON keys whose values are removed from kept details, in addition to
    /// the built-in list. `MARTLET_REDACT`, default none.
    ///
    /// Whole names, in any case and without regard to punctuation: `card-number` covers `cardNumber` and `card_number`
    /// too.
    public var redact: [String] = []
    /// The time after which a request in flight counts as hung, a separate kind of failure. `MARTLET_HUNG`, default 5
    /// min, at least 100 ms.
    public var hung = Duration.seconds(300) {
        didSet { hung = max(hung, MartletLimits.shortestInterval) }
    }
    /// Whether the next process of the service reports why this one ended, with the line of a crash (`docs/crashes.md`). The
    /// agent then handles the signals of crashes, passes them on to the handlers before its own, and keeps a file of 136
    /// KiB in ``bufferDirectory``. `MARTLET_CRASHES`, default `true`. An in-memory agent never does this.
    public var watchCrashes = true
    /// A file of rules that change requests (JSON5, `docs/rules.md`), reloaded when it changes. It replaces ``rules``.
    /// `MARTLET_RULES`, default none.
    public var rulesFile: URL?
    /// Rules that change requests, for drills and tests. The first matching rule with an action applies. If a rule is
    /// invalid, the agent logs a warning and none apply. Default none. A description of the configuration hides them,
    /// because they may contain credentials.
    public var rules: [MartletRule] {
        get { secretRules.value }
        set { secretRules.value = newValue }
    }
    private var secretRules = Secret<[MartletRule]>([])
    /// The share of the process's CPU time that the agent may use, 0...1; 1 % of a core is always allowed. Above it the
    /// agent gives up details first, then phases, trace headers and spans. It gives up counting last, after a minute at
    /// four times the share. All of this work resumes automatically. `MARTLET_MAX_CPU`, default 0.05.
    public var maxCPU = 0.05
    /// Bytes that the agent may hold in memory. Above them it gives up the same work, step by step, and resumes it
    /// automatically. `MARTLET_MAX_MEMORY`, default 32 MiB.
    public var maxMemory = 32 << 20
    /// The figures of the budget that are not settings. Tests replace them, so that they need not wait.
    var budgetTerms = BudgetTerms()
    /// The time after which a batch is sealed. `MARTLET_INTERVAL`, default 10 s, at least 100 ms.
    public var interval = Duration.seconds(10) {
        didSet { interval = max(interval, MartletLimits.shortestInterval) }
    }
    /// The directory in which batches wait for the collector. `MARTLET_BUFFER_DIR`, default `$STATE_DIRECTORY/martlet`,
    /// `$XDG_STATE_HOME/martlet`, `~/.local/state/martlet`, else the temporary directory. If no directory can be written,
    /// batches are sent from memory.
    public var bufferDirectory: URL?
    /// Bytes on disk that all instances of the service on this host may use together, in whole blocks and with the
    /// directories. `MARTLET_BUFFER_MAX`, default 64 MiB.
    public var bufferMax = 64 << 20
    /// Earlier addresses of the service's collectors. Batches with this service's name that wait only for these addresses
    /// go to ``collectors``, whatever token they were recorded under. `MARTLET_BUFFER_ADOPT`, default none.
    public var bufferAdopt: [URL] = []
    /// The compression of uploads. `MARTLET_COMPRESSION`, default `gzip`.
    public var compression = Compression.gzip
    /// The time that each point of a histogram covers in uploaded metrics. `MARTLET_TEMPORALITY`, default
    /// ``Temporality/delta``.
    public var temporality = Temporality.delta
    /// The transport of uploads. `MARTLET_TRANSPORT`, default `nil`: ``Transport/urlSession`` if Foundation is sound
    /// (Swift 6.4 and later) or the process has no libcurl to call, else ``Transport/libcurl``.
    public var transport: Transport?
    /// The proxy of uploads: an `http`, `https` or `socks5` URL, which may contain a user and a password. No log or
    /// description shows it with its password. Collectors on this host, in a private network and in `no_proxy` are
    /// reached without one. `MARTLET_PROXY`, default `nil`: `https_proxy` or `all_proxy` for https, and none for http,
    /// because it would read the token.
    public var proxy: URL? {
        get { secretProxy.value }
        set { secretProxy.value = newValue }
    }
    private var secretProxy = Secret<URL?>(nil)
    /// A PEM file with the authorities that the collector's certificate may be signed by, instead of the system's.
    /// `MARTLET_CERTIFICATE`, default the system's, or those of `SSL_CERT_FILE` and `SSL_CERT_DIR`.
    public var certificate: URL?
    /// A PEM file with the certificate that the agent presents to a collector that asks for one.
    /// `MARTLET_CLIENT_CERTIFICATE`, default none.
    public var clientCertificate: URL?
    /// A PEM file with the private key of ``clientCertificate``, without a passphrase. `MARTLET_CLIENT_KEY`, default the one
    /// in the certificate's file.
    public var clientKey: URL?
    /// The time-out of one upload. `MARTLET_EXPORT_TIMEOUT`, default 10 s, at least 100 ms.
    public var exportTimeout = Duration.seconds(10) {
        didSet { exportTimeout = max(exportTimeout, MartletLimits.shortestInterval) }
    }
    /// The level from which messages reach the service's log. The default also allows one notice: that the agent is the
    /// backend of swift-distributed-tracing. `MARTLET_LOG_LEVEL`, default `warning`.
    public var logLevel = Logger.Level.warning

    /// The agent's logger. If `nil`, the agent logs with the handler of `LoggingSystem.bootstrap`, under the label
    /// `martlet`.
    public var logger: Logger?

    /// Makes a configuration with the defaults. Does not read the environment.
    public init() {}

    /// The sessions whose requests are captured; the raw values are those of `MARTLET_CAPTURE`.
    public enum Capture: String, Sendable, CaseIterable {
        /// Every `URLSession` of the process.
        case automatic
        /// Only sessions whose configuration was passed through
        /// ``FoundationNetworking/URLSessionConfiguration/captureWithMartlet()``.
        case explicit
    }

    /// The transports of uploads; the raw values are those of `MARTLET_TRANSPORT`.
    public enum Transport: String, Sendable, CaseIterable {
        /// A `URLSession` that belongs to the agent.
        case urlSession = "urlsession"
        /// The libcurl that `URLSession` brings with it on Linux.
        case libcurl
    }

    /// The aggregation temporality of histograms (specification, "Metrics Data Model", section "Temporality").
    public enum Temporality: String, Sendable, CaseIterable {
        /// A point has the requests of one interval. Martlet's collector counts these exactly, and an upload is small.
        case delta
        /// A point has all delivered requests since the process's start. Prometheus and similar systems accept only
        /// this.
        case cumulative
    }

    /// The compression of uploads; the raw values are those of `MARTLET_COMPRESSION`.
    public enum Compression: String, Sendable, CaseIterable {
        /// `Content-Encoding: gzip` (RFC 1952).
        case gzip
        /// Bodies as they are.
        case none
    }
}

/// The header fields of requests and responses that kept details have. Values of fields that may hold secrets are
/// always removed.
public enum CapturedHeaders: Sendable, Equatable {
    /// No field.
    case none
    /// The named fields, in lower case.
    case named(Set<String>)
    /// Every field.
    case all

    /// Returns whether a field is kept. Thread-safe.
    ///
    /// - Parameter name: in any case.
    func contains(_ name: String) -> Bool {
        switch self {
        case .none: false
        case .named(let names): names.contains(name.lowercased())
        case .all: true
        }
    }

    /// The selection with its names in lower case.
    var lowercased: CapturedHeaders {
        guard case .named(let names) = self else { return self }
        return .named(Set(names.map { $0.lowercased() }))
    }
}

/// The requests whose bodies are in kept details, as far as the bodies are text.
public enum CapturedBodies: String, Sendable, CaseIterable {
    /// No body.
    case none
    /// The bodies of failed requests.
    case failures
    /// The bodies of all requests whose details are kept.
    case all
}

/// The facts about a request by which a service's closures name or exclude it (``MartletConfiguration/name``,
/// ``MartletConfiguration/ignore``). A plain value.
public struct MartletTarget: Sendable, Hashable {
    /// Whether the service received the request; `false` if the service made it.
    public var isReceived: Bool
    /// The method in upper case; `_OTHER` for one that no RFC names. The operation for a database or a message broker.
    public var method: String
    /// The server's name or address, in lower case; empty if it is unknown.
    public var host: String
    /// The server's port, the scheme's own if the URL names none; 0 if it is unknown.
    public var port: Int
    /// The path as in the URL, percent-encoded and without query; `/` for a database or a message broker.
    public var path: String

    /// Makes a target. For tests of a closure.
    public init(isReceived: Bool, method: String, host: String, port: Int, path: String) {
        self.isReceived = isReceived
        self.method = method
        self.host = host
        self.port = port
        self.path = path
    }
}

/// A value that no description shows, so that a configuration can be logged or dumped as a whole.
struct Secret<Value: Sendable>: Sendable, CustomStringConvertible, CustomReflectable {
    var value: Value

    init(_ value: Value) { self.value = value }

    var description: String { "(hidden)" }
    var customMirror: Mirror { Mirror(self, children: []) }
}
