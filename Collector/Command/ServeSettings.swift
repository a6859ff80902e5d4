import ArgumentParser
import Foundation
import Logging
import MartletClickHouseStorage
import MartletNotifications
import MartletReports
import MartletSQLiteStorage
import MartletServer
import MartletStorage
import MartletTelemetry

/// The checked settings of `serve`, with their defaults.
struct ServeSettings {
    var address: ListenAddress
    /// The address that serves only health and metrics; `nil` if there is none.
    var adminAddress: ListenAddress?
    var store: StoreLocation
    var limits: SQLiteLimits
    var tokens: ServerTokens
    var tokenSource: TokenSource
    var tls: ServerTLS?
    var allowedHosts: [String]
    var receivers: [Receiver]
    var log: LogSettings
    /// See ``CollectorActivity``.
    var scrapeInterval: Duration
    private var serverLimits = ServerLimits()
    /// Whether a flag or a variable set the number of connections.
    private let asksForConnections: Bool

    init(_ flags: Serve) throws {
        log = try LogSettings(level: flags.logLevel, format: flags.logFormat)
        scrapeInterval = try Self.scrapeInterval(flags.scrapeInterval)
        address = ListenAddress(host: flags.host, port: try Self.port(flags.port, of: "--port"))
        adminAddress = try flags.adminPort.map {
            ListenAddress(host: flags.host, port: try Self.port($0, of: "--admin-port"))
        }
        if let adminAddress, adminAddress.port == address.port, address.port != 0 {
            throw ValidationError("--admin-port must differ from --port")
        }
        store = try flags.store.map { try StoreLocation($0) } ?? .sqlite(path: StoreLocation.defaultPath())
        limits = try Self.limits(flags)
        if case .clickHouse = store { try Self.refuseLimitsOfFiles(flags) }
        for (flag, token) in [("--ingest-token", flags.ingestToken), ("--read-token", flags.readToken)] {
            if let token, !ServerTokens.isPossible(token) {
                throw ValidationError("\(flag) must consist of ASCII characters without spaces")
            }
        }
        tokenSource = try reportingFailure { try TokenSource(flags) }
        tokens = tokenSource.tokens
        if let objection = tokens.objection(toListeningAt: address, insecure: flags.insecure) {
            throw ValidationError(objection)
        }
        allowedHosts = flags.allowedHost
        receivers = try Receiver.receivers(flags.notify, file: flags.notifyFile)
        tls = try Self.tls(certificate: flags.tlsCertificate, key: flags.tlsKey)
        asksForConnections = flags.maxConnections != nil
        if let maxConnections = flags.maxConnections {
            guard maxConnections > 0 else { throw ValidationError("--max-connections must be 1 or more") }
            serverLimits.maxConnections = maxConnections
        }
    }

    /// Raises the limit of open files, and returns limits that fit into it. Warns if they are smaller than requested.
    func limitsInForce(_ logger: Logger) -> ServerLimits {
        var limits = serverLimits
        guard let room = OpenFileLimit.connectionsAfterRaising(), room < limits.maxConnections else { return limits }
        logger.log(
            level: asksForConnections ? .warning : .info,
            "the limit of open files leaves room for fewer connections than --max-connections",
            metadata: [
                "in force": "\(room)", asksForConnections ? "asked" : "default": "\(limits.maxConnections)",
            ])
        limits.maxConnections = room
        return limits
    }

    func url(port: Int) -> String {
        address.url(port: port, isTLS: tls != nil)
    }

    private static func tls(certificate: String?, key: String?) throws -> ServerTLS? {
        switch (certificate, key) {
        case (nil, nil): return nil
        case (let certificate?, let key?):
            return try reportingFailure { try ServerTLS(certificate: certificate, key: key) }
        default: throw ValidationError("--tls-certificate and --tls-key must be given together")
        }
    }

    /// The limits of a store on ClickHouse.
    var clickHouseLimits: ClickHouseLimits {
        var limits = ClickHouseLimits()
        limits.retention = self.limits.retention
        limits.detailAge = self.limits.detailAge
        return limits
    }

    private static func refuseLimitsOfFiles(_ flags: Serve) throws {
        let limits: [(name: String, value: Any?)] = [
            ("--max-details", flags.maxDetails), ("--max-details-bytes", flags.maxDetailsBytes),
            ("--max-store", flags.maxStore), ("--max-cumulative-streams", flags.maxCumulativeStreams),
        ]
        if let given = limits.first(where: { $0.value != nil }) {
            throw ValidationError(
                "\(given.name) limits a store sqlite:PATH; it does not apply to a store on ClickHouse")
        }
    }

    private static func limits(_ flags: Serve) throws -> SQLiteLimits {
        var limits = SQLiteLimits()
        limits.retention = try RetentionOption.parse(flags.retention)
        guard let age = TimeText.nanoseconds(flags.details), age <= UInt64(Int64.max) else {
            throw ValidationError("--details must be a length of time, such as 7d")
        }
        limits.detailAge = age
        if let maxDetails = flags.maxDetails {
            guard maxDetails >= 0 else { throw ValidationError("--max-details must be 0 or more") }
            limits.maxDetails = maxDetails
        }
        if let size = flags.maxDetailsBytes {
            limits.maxDetailsBytes = try ByteSize.parse(size, of: "--max-details-bytes")
        }
        if let streams = flags.maxCumulativeStreams {
            guard streams > 0 else { throw ValidationError("--max-cumulative-streams must be 1 or more") }
            limits.maxCumulativeSeries = streams
        }
        if let size = flags.maxStore { limits.maxStoreBytes = try storeBytes(size) }
        return limits
    }

    /// Returns the size of `--max-store`. Refuses a small one, which is usually a number without its unit: the collector would
    /// delete nearly everything that it may.
    private static func storeBytes(_ text: String) throws -> UInt64 {
        let bytes = try ByteSize.parse(text, of: "--max-store")
        guard bytes >= 1 << 20 else { throw ValidationError("--max-store must be 1MiB or more") }
        return UInt64(bytes)
    }

    private static func scrapeInterval(_ text: String) throws -> Duration {
        guard let length = TimeText.nanoseconds(text), length <= 3_600_000_000_000 else {
            throw ValidationError("--scrape-interval must be a length of time up to 1h, such as 15s")
        }
        return .nanoseconds(Int64(length))
    }

    private static func port(_ number: Int, of flag: String) throws -> Int {
        guard (0...65535).contains(number) else { throw ValidationError("\(flag) must be a number from 0 to 65535") }
        return number
    }
}

/// The flag `--retention 10s=6h,1m=7d,1h=400d`.
enum RetentionOption {
    /// The default, from that of ``Retention``.
    static let usual: String = {
        let (retention, hour) = (Retention(), UInt64(3_600_000_000_000))
        return "10s=\(retention.fine / hour)h,1m=\(retention.minutes / hour / 24)d,1h=\(retention.hours / hour / 24)d"
    }()

    /// Returns the retention. A resolution that is not named keeps its default.
    static func parse(_ text: String) throws -> Retention {
        var retention = Retention()
        var named: Set<Substring> = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let sides = part.split(separator: "=", omittingEmptySubsequences: false)
            guard sides.count == 2, let age = TimeText.nanoseconds(String(sides[1])), age <= UInt64(Int64.max),
                named.insert(sides[0]).inserted
            else { throw problem }
            switch sides[0] {
            case "10s": retention.fine = age
            case "1m": retention.minutes = age
            case "1h": retention.hours = age
            default: throw problem
            }
        }
        guard retention.isOrdered else {
            throw ValidationError(
                "--retention must keep a coarser resolution at least as long as a finer one (default: \(usual))"
            )
        }
        return retention
    }

    private static let problem = ValidationError(
        "--retention must give the resolutions 10s, 1m or 1h a length of time each, such as \(usual)")
}

/// A size such as `64MiB`, `500KB` or plain bytes.
enum ByteSize {
    private static let units: [(name: String, bytes: Double)] = [
        ("KiB", 0x1p10), ("MiB", 0x1p20), ("GiB", 0x1p30), ("TiB", 0x1p40), ("KB", 1e3), ("MB", 1e6), ("GB", 1e9),
        ("TB", 1e12), ("B", 1), ("", 1),
    ]

    /// - Parameter flag: the flag that an error names.
    static func parse(_ text: String, of flag: String) throws -> Int {
        for (name, bytes) in units where text.lowercased().hasSuffix(name.lowercased()) {
            let digits = text.dropLast(name.count)
            guard let number = Double(digits), number >= 0, number * bytes < 0x1p62 else { break }
            return Int(number * bytes)
        }
        throw ValidationError("\(flag) must be a size, such as 1GiB")
    }

    /// Returns the size in the largest binary unit that it reaches, such as `1.5 GiB`.
    static func text(_ bytes: UInt64) -> String {
        for (name, size) in units.prefix(4).reversed() where Double(bytes) >= size {
            let tenths = (Double(bytes) / size * 10).rounded() / 10
            return tenths == tenths.rounded() ? "\(Int(tenths)) \(name)" : "\(tenths) \(name)"
        }
        return "\(bytes) bytes"
    }
}

/// The tokens from the flags and from the files.
struct TokenSource {
    let tokens: ServerTokens
    private let ingest: (flag: String?, file: String?)
    private let read: (flag: String?, file: String?)

    init(_ flags: Serve) throws {
        ingest = (flags.ingestToken, flags.ingestTokenFile)
        read = (flags.readToken, flags.readTokenFile)
        let (senders, readers) = (try Self.ingestTokens(ingest), try Self.readTokens(read))
        tokens = ServerTokens(
            ingest: senders.isEmpty ? nil : IngestTokens(senders), read: readers.isEmpty ? nil : ReadTokens(readers))
    }

    /// Reloads the file of ingest tokens; returns `nil` without one. After an error the current tokens stay in use.
    func reloadIngest() throws -> Void? {
        ingest.file == nil ? nil : tokens.ingest?.replace(with: try Self.ingestTokens(ingest))
    }

    /// Reloads the file of read tokens in the same way. The sessions of removed tokens end.
    func reloadRead() throws -> Void? {
        read.file == nil ? nil : tokens.read?.replace(with: try Self.readTokens(read))
    }

    private static func ingestTokens(_ source: (flag: String?, file: String?)) throws -> [String] {
        try (source.flag.map { [$0] } ?? []) + (source.file.map { try TokenFile.tokens($0) } ?? [])
    }

    private static func readTokens(_ source: (flag: String?, file: String?)) throws -> [ReadToken] {
        try (source.flag.map { [ReadToken(secret: $0)] } ?? [])
            + (source.file.map { try TokenFile.readTokens($0) } ?? [])
    }
}

/// The number of files that the process may open. Each connection is one.
enum OpenFileLimit {
    /// The number of open files that are not connections: the store with its log and readers, the event loops, the log.
    private static let others = 256

    /// Raises the limit as far as an unprivileged process may. Returns the number of connections that fit into it, or `nil` if
    /// the system does not report a limit.
    static func connectionsAfterRaising() -> Int? {
        #if canImport(Glibc)
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        #else
        let resource = RLIMIT_NOFILE
        #endif
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0 else { return nil }
        var raised = rlimit(rlim_cur: limit.rlim_max, rlim_max: limit.rlim_max)
        if setrlimit(resource, &raised) == 0 { limit = raised }
        return max(1, Int(clamping: limit.rlim_cur) - others)
    }
}
