import ArgumentParser
import Foundation
import MartletServer

struct Health: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Checks that a collector answers, for the health check of a container: exit status 0 or 1.",
        discussion: """
            Without --collector it asks the collector on this machine, which it finds by the variables of `serve`: \
            MARTLET_COLLECTOR_HOST, MARTLET_COLLECTOR_ADMIN_PORT or else MARTLET_COLLECTOR_PORT, and over https with \
            MARTLET_COLLECTOR_TLS_CERTIFICATE. It does not verify the certificate of a collector on this machine, which is \
            issued for the name that other machines use.
            """)

    @Option(help: "The URL of the collector to ask.")
    var collector: String?

    @OptionGroup var tls: ClientTLS

    func run() async throws {
        let client = try client()
        do {
            let answer: [String: String] = try await client.get("healthz")
            try Output.answer((answer["status"] ?? "") + "\n")
        } catch {
            Output.error("\(error)")
            throw ExitCode.failure
        }
    }

    private func client() throws -> CollectorClient {
        let variables = ProcessInfo.processInfo.environment
        let url = try collector.map(ClientOptions.url) ?? LocalCollector.url(CollectorEnvironment(variables))
        var configuration = url.scheme == "https" ? try reportingFailure { try tls.configuration(variables) } : nil
        if collector == nil || ListenAddress(host: url.host ?? "", port: 0).isLoopback {
            configuration?.certificateVerification = .none
        }
        return CollectorClient(url: url, token: nil, tls: configuration, timeout: .seconds(5))
    }
}

/// The collector that `serve` starts with the same variables.
enum LocalCollector {
    static func url(_ environment: CollectorEnvironment) throws -> URL {
        let flags = try Serve.parse(environment.serveFlags())
        // A collector that listens at all addresses also listens at loopback.
        let host =
            switch flags.host {
            case "0.0.0.0": "127.0.0.1"
            case "::": "::1"
            default: flags.host
            }
        let port = flags.adminPort ?? flags.port
        guard (1...65535).contains(port) else {
            throw ValidationError(
                "MARTLET_COLLECTOR_PORT and MARTLET_COLLECTOR_ADMIN_PORT must be numbers from 1 to 65535")
        }
        let address = ListenAddress(host: host, port: port)
        return try ClientOptions.url(address.url(port: port, isTLS: flags.tlsCertificate != nil))
    }
}
