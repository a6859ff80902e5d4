import ArgumentParser
import MartletReports
import MartletSQLiteStorage
import MartletServer

/// The settings of `serve`, checked and with their defaults.
struct ServeSettings {
    var address: ListenAddress
    var storePath: String
    var limits: SQLiteLimits
    var tokens: ServerTokens
    var tls: ServerTLS?
    var allowedHosts: [String]

    init(
        host: String?, port: Int?, store: String?, ingestToken: String?, readToken: String?, allowedHosts: [String],
        retention: String?,
        details: String?, maxDetails: Int?, maxDetailsBytes: String?, maxStore: String?, tlsCertificate: String?,
        tlsKey: String?, insecure: Bool
    ) throws {
        guard (0...65535).contains(port ?? 0) else { throw ValidationError("--port must be a number from 0 to 65535") }
        address = ListenAddress(host: host ?? "127.0.0.1", port: port ?? 4318)
        storePath = try store.map(StoreLocation.path) ?? StoreLocation.defaultPath()
        limits = try Self.limits(retention: retention, details: details, maxDetails: maxDetails)
        if let maxDetailsBytes {
            limits.maxDetailsBytes = try ByteSize.parse(maxDetailsBytes, of: "--max-details-bytes")
        }
        if let maxStore { limits.maxStoreBytes = UInt64(try ByteSize.parse(maxStore, of: "--max-store")) }
        tokens = ServerTokens(
            ingest: try Self.token(ingestToken, of: "--ingest-token"),
            read: try Self.token(readToken, of: "--read-token"))
        if let objection = tokens.objection(toListeningAt: address, insecure: insecure) {
            throw ValidationError(objection)
        }
        self.allowedHosts = allowedHosts
        tls = try Self.tls(certificate: tlsCertificate, key: tlsKey)
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

    private static func limits(retention: String?, details: String?, maxDetails: Int?) throws -> SQLiteLimits {
        var limits = SQLiteLimits()
        if let retention { limits.retention = try RetentionOption.parse(retention) }
        if let details {
            guard let age = TimeText.nanoseconds(details), age <= UInt64(Int64.max) else {
                throw ValidationError("--details must be a length of time, such as 24h")
            }
            limits.detailAge = age
        }
        if let maxDetails {
            guard maxDetails >= 0 else { throw ValidationError("--max-details must be 0 or more") }
            limits.maxDetails = maxDetails
        }
        return limits
    }

    /// Returns a token, and refuses an empty one, which would guard nothing.
    private static func token(_ text: String?, of flag: String) throws -> String? {
        guard let text else { return nil }
        guard !text.isEmpty else { throw ValidationError("\(flag) must not be empty") }
        return text
    }
}
