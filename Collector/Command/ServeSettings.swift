import ArgumentParser
import MartletServer

/// What `serve` was told, checked and with its defaults.
struct ServeSettings {
    var address: ListenAddress
    var storePath: String
    var tokens: ServerTokens

    init(
        host: String?, port: Int?, store: String?, ingestToken: String?, readToken: String?, insecure: Bool
    ) throws {
        guard (0...65535).contains(port ?? 0) else { throw ValidationError("--port is a number from 0 to 65535") }
        address = ListenAddress(host: host ?? "127.0.0.1", port: port ?? 4318)
        storePath = try store.map(StoreLocation.path) ?? StoreLocation.defaultPath()
        tokens = ServerTokens(
            ingest: try Self.token(ingestToken, of: "--ingest-token"),
            read: try Self.token(readToken, of: "--read-token"))
        if let objection = tokens.objection(toListeningAt: address, insecure: insecure) {
            throw ValidationError(objection)
        }
    }

    /// An empty token would guard nothing.
    private static func token(_ text: String?, of flag: String) throws -> String? {
        guard let text else { return nil }
        guard !text.isEmpty else { throw ValidationError("\(flag) is empty") }
        return text
    }
}
