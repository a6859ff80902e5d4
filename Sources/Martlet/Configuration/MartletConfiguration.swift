public import Foundation
public import Logging

/// Every setting of the agent. ``MartletAgent/start()`` reads them from the environment; the variable that sets a
/// property stands in its comment, and `docs/configuration.md` has them all in one table.
public struct MartletConfiguration: Sendable {
    /// Off: nothing is hooked, no thread is started, no file is written. `MARTLET_ENABLED`, default `true`.
    public var isEnabled = true
    /// `service.name`. `MARTLET_SERVICE_NAME`, default the executable's name.
    public var serviceName = ProcessInfo.processInfo.processName
    /// `service.version`. `MARTLET_SERVICE_VERSION`, default none.
    public var serviceVersion: String?
    /// `deployment.environment.name`. `MARTLET_ENVIRONMENT`, default none.
    public var environment: String?
    /// The collector; `/v1/metrics` and `/v1/traces` are appended. `MARTLET_ENDPOINT`, default `http://127.0.0.1:4318`.
    public var endpoint = URL(string: "http://127.0.0.1:4318") ?? URL(fileURLWithPath: "/")
    /// Sent as `Authorization: Bearer …`, and never logged. `MARTLET_TOKEN`, default none.
    public var token: String?
    /// Whether the start makes ``MartletAgent/tracer`` the process's tracer. To be turned off where the service calls
    /// `InstrumentationSystem.bootstrap(_:)` itself, which traps when it is called a second time. `MARTLET_TRACING`,
    /// default `true`.
    public var bootstrapsTracing = true
    /// Which requests are seen. `MARTLET_CAPTURE`, default `automatic`.
    public var capture = Capture.automatic
    /// Globs on `host[:port][/path]` of the requests to see, `*` standing for any characters: `*.example.com`,
    /// `api.example.com:8443/internal/*`. A part that is left out matches everything. `MARTLET_INCLUDE`, default all.
    public var include: [String] = []
    /// The same, of requests to pass by; wins over ``include``. `MARTLET_EXCLUDE`, default none.
    public var exclude: [String] = []
    /// Path templates that name endpoints; the first match wins. `MARTLET_ENDPOINTS`, default none.
    ///
    /// `{name}` and `*` stand for one segment, a `*` at the end for all that follow: `/users/{id}/orders/*`.
    public var endpoints: [String] = []
    /// Distinct endpoints; past it a request counts to `{other}` of its host. `MARTLET_MAX_ENDPOINTS`, default 1000.
    public var maxEndpoints = 1000
    /// Share of traces whose details are kept, 0...1, decided by trace id. Counts and distributions are exact whatever
    /// it is. `MARTLET_SAMPLE_RATE`, default 0.1.
    public var sampleRate = 0.1
    /// Keep the details of failed requests whatever the rate. `MARTLET_KEEP_FAILURES`, default `true`.
    public var keepFailures = true
    /// Keep the details of requests that take this long or longer. `MARTLET_SLOW`, default 1 s.
    public var slow = Duration.seconds(1)
    /// Send `traceparent` and `tracestate` with requests that carry none (W3C Trace Context). `MARTLET_PROPAGATE`, default
    /// `true`.
    public var propagate = true
    /// Paths in kept details as they are. Otherwise those of their segments that are values, and neither plain numbers nor UUIDs,
    /// are taken out. `MARTLET_CAPTURE_PATHS`, default `false`.
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
    /// Names of header fields, form parameters and JSON keys whose values are taken out of kept details, beside the
    /// built-in list. `MARTLET_REDACT`, default none.
    ///
    /// Whole names in any case; punctuation does not count: `card-number` is `cardNumber` and `card_number` too.
    public var redact: [String] = []
    /// A request in flight for longer counts as hung, a failure of its own. `MARTLET_HUNG`, default 5 min, at least
    /// 100 ms.
    public var hung = Duration.seconds(300) {
        didSet { hung = max(hung, MartletLimits.shortestInterval) }
    }
    /// Share of the process's own CPU time that the agent may take, 0...1; 1 % of a core is always allowed. Past it details
    /// go first, then phases, trace headers and spans, and counting last, after a minute at four times as much; each comes
    /// back by itself. `MARTLET_MAX_CPU`, default 0.05.
    public var maxCPU = 0.05
    /// Bytes that the agent may hold in memory; past it the same goes, step by step, and comes back. `MARTLET_MAX_MEMORY`,
    /// default 32 MiB.
    public var maxMemory = 32 << 20
    /// No setting: who tests the budget need not wait.
    var budgetTerms = BudgetTerms()
    /// How often a batch is sealed. `MARTLET_INTERVAL`, default 10 s, at least 100 ms.
    public var interval = Duration.seconds(10) {
        didSet { interval = max(interval, MartletLimits.shortestInterval) }
    }
    /// Where batches wait for the collector. `MARTLET_BUFFER_DIR`, default `$XDG_STATE_HOME/martlet`,
    /// `~/.local/state/martlet`, else the temporary directory; batches that none of them takes are sent from memory.
    public var bufferDirectory: URL?
    /// Bytes on disk for all instances of the service on this host together. `MARTLET_BUFFER_MAX`, default 64 MiB.
    public var bufferMax = 64 << 20
    /// Addresses of collectors that the service had before: what still waits for one of them under this service's name, with
    /// whatever token, goes to ``endpoint``. `MARTLET_BUFFER_ADOPT`, default none.
    public var bufferAdopt: [URL] = []
    /// `MARTLET_COMPRESSION`, default `gzip`.
    public var compression = Compression.gzip
    /// The way that uploads take. `MARTLET_TRANSPORT`, default `nil`: ``Transport/urlSession`` where Foundation is sound (Swift
    /// 6.4 and later) and where there is no libcurl to be called, else ``Transport/libcurl``.
    public var transport: Transport?
    /// A PEM file with the authorities that may have signed the collector's certificate, in place of the system's.
    /// `MARTLET_CERTIFICATE`, default the system's, or those of `SSL_CERT_FILE` and `SSL_CERT_DIR`.
    public var certificate: URL?
    /// A PEM file with the certificate that the agent shows to a collector which asks for one. `MARTLET_CLIENT_CERTIFICATE`,
    /// default none.
    public var clientCertificate: URL?
    /// A PEM file with its private key, without a passphrase. `MARTLET_CLIENT_KEY`, default the one in the certificate's file.
    public var clientKey: URL?
    /// One upload. `MARTLET_EXPORT_TIMEOUT`, default 10 s, at least 100 ms.
    public var exportTimeout = Duration.seconds(10) {
        didSet { exportTimeout = max(exportTimeout, MartletLimits.shortestInterval) }
    }
    /// Messages at or above this level reach the service's log, and at the default one notice more: that the agent is
    /// the backend of swift-distributed-tracing. `MARTLET_LOG_LEVEL`, default `warning`.
    public var logLevel = Logger.Level.warning

    /// Where the agent logs. `nil`: the handler that the service gave to `LoggingSystem.bootstrap`, under the label
    /// `martlet`.
    public var logger: Logger?

    /// The defaults, whatever the environment says.
    public init() {}

    public enum Capture: String, Sendable, CaseIterable {
        /// Every `URLSession` of the process.
        case automatic
        /// Only sessions whose configuration was passed through
        /// ``FoundationNetworking/URLSessionConfiguration/captureWithMartlet()``.
        case explicit
    }

    /// The ways that uploads can take; the raw values are those of `MARTLET_TRANSPORT`.
    public enum Transport: String, Sendable, CaseIterable {
        /// A `URLSession` of the agent's own.
        case urlSession = "urlsession"
        /// The libcurl that `URLSession` brings with it on Linux.
        case libcurl
    }

    public enum Compression: String, Sendable, CaseIterable {
        case gzip
        case none
    }
}
