import ArgumentParser
import Foundation
import MartletServer

/// The collector that `serve` is with the same variables.
enum OwnCollector {
    static func url(_ environment: CollectorEnvironment) throws -> URL {
        // A collector that listens at all addresses listens at loopback too.
        let host =
            switch environment["HOST"] {
            case nil, "0.0.0.0": "127.0.0.1"
            case "::": "::1"
            case let host?: host
            }
        let port = try environment.integer("ADMIN_PORT") ?? environment.integer("PORT") ?? 4318
        guard (1...65535).contains(port) else {
            throw ValidationError(
                "MARTLET_COLLECTOR_PORT and MARTLET_COLLECTOR_ADMIN_PORT must be numbers from 1 to 65535")
        }
        let isTLS = environment["TLS_CERTIFICATE"] != nil
        return try ClientOptions.url(ListenAddress(host: host, port: port).url(port: port, isTLS: isTLS))
    }
}
