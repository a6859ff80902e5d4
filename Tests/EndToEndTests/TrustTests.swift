import Fixtures
import Foundation
import Testing

/// A collector with a certificate of a private authority. Agents and commands trust or refuse it, and no batch is lost when
/// they refuse.
@Suite(.serialized) struct TrustTests {
    private let folder: TemporaryFolder
    private let shop = ShopServer()
    private let authority: Authority
    private let stranger: Authority
    private let collector: CollectorProcess

    init() async throws {
        folder = try TemporaryFolder()
        authority = try await Authority("authority", in: folder)
        stranger = try await Authority("stranger", in: folder)
        let (certificate, key) = try await authority.sign("server")
        collector = try await CollectorProcess(
            store: folder.path("collector.sqlite"),
            environment: ["MARTLET_COLLECTOR_TLS_CERTIFICATE": certificate, "MARTLET_COLLECTOR_TLS_KEY": key])
    }

    // MARK: The agent

    private struct Life {
        let result: ProbeResult
        let errors: String
    }

    /// Runs a service that makes 30 requests, from its start to its end.
    private func life(_ environment: [String: String], to address: String? = nil) async throws -> Life {
        let probe = Probe(folder: folder, collector: address ?? collector.address)
        let (shop, life) = (shop, Box<Life>())
        try await shop.run { server in
            let (status, output, errors) = try await probe.start(server, requests: 5, environment: environment).finish()
            guard status == 0 else { throw ChildProcess.Failure(output: "status \(status): \(errors)") }
            await life.set(
                Life(result: try JSONDecoder().decode(ProbeResult.self, from: Data(output.utf8)), errors: errors))
        }
        return try #require(await life.value)
    }

    private func expectDelivered(_ life: Life, sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(life.result.delivered == 30, "\(life.errors)", sourceLocation: sourceLocation)
        #expect(!life.errors.contains(" warning "), "\(life.errors)", sourceLocation: sourceLocation)
    }

    private func expectKept(_ life: Life, because reason: String, sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(life.result.delivered == 0, sourceLocation: sourceLocation)
        #expect(life.result.waiting == 30, "\(life.errors)", sourceLocation: sourceLocation)
        #expect(life.errors.contains(reason), "\(life.errors)", sourceLocation: sourceLocation)
    }

    @Test(arguments: ["MARTLET_CERTIFICATE", "OTEL_EXPORTER_OTLP_CERTIFICATE", "SSL_CERT_FILE"])
    func agentTrustsTheNamedAuthority(variable: String) async throws {
        expectDelivered(try await life([variable: authority.certificate]))
        let (status, totals) = try await report(["--certificate", authority.certificate])
        #expect(status == 0)
        #expect(totals == 30)
    }

    @Test func untrustedCollectorGetsNothingAndTheNextStartDelivers() async throws {
        expectKept(try await life([:]), because: "certificate")
        expectKept(try await life(["MARTLET_CERTIFICATE": stranger.certificate]), because: "certificate")
        // The agent trusts only the named authorities.
        let both = ["MARTLET_CERTIFICATE": stranger.certificate, "SSL_CERT_FILE": authority.certificate]
        expectKept(try await life(both), because: "certificate")
        expectDelivered(try await life(["MARTLET_CERTIFICATE": authority.certificate]))
        #expect(try await report(["--certificate", authority.certificate]).totals == 120)
    }

    @Test func unusableFileIsNamedAndNothingIsLost() async throws {
        let missing = folder.path("missing.pem")
        expectKept(
            try await life(["MARTLET_CERTIFICATE": missing]),
            because: "MARTLET_CERTIFICATE: \(missing) is missing or cannot be read")
        let other = folder.path("nginx.conf")
        try Data("no PEM".utf8).write(to: URL(fileURLWithPath: other))
        expectKept(
            try await life(["MARTLET_CERTIFICATE": other]),
            because: "MARTLET_CERTIFICATE: \(other) contains no certificate in PEM")
        let client = try await authority.sign("client")
        expectKept(
            try await life([
                "MARTLET_CERTIFICATE": authority.certificate, "MARTLET_CLIENT_CERTIFICATE": client.certificate,
            ]), because: "MARTLET_CLIENT_CERTIFICATE: \(client.certificate) contains no unencrypted private key in PEM")
        // A batch recorded under a client's certificate is adopted only if the agent is configured to.
        expectDelivered(
            try await life([
                "MARTLET_CERTIFICATE": authority.certificate, "MARTLET_BUFFER_ADOPT": collector.address,
            ]))
        #expect(try await report(["--certificate", authority.certificate]).totals == 120)
    }

    @Test func collectorThatRequestsACertificateGetsTheAgentsOne() async throws {
        let plain = try await CollectorProcess(store: folder.path("plain.sqlite"))
        let proxy = try await TLSProxy(
            try await authority.sign("proxy"), clients: authority.certificate, to: plain.port, in: folder)
        let trust = ["MARTLET_CERTIFICATE": authority.certificate]
        expectKept(try await life(trust, to: proxy.address), because: "a proxy requires a client certificate")
        let client = try await authority.sign("client")
        let files = [
            "MARTLET_CLIENT_CERTIFICATE": client.certificate, "MARTLET_CLIENT_KEY": client.key,
            "MARTLET_BUFFER_ADOPT": proxy.address,
        ]
        expectDelivered(try await life(trust.merging(files) { $1 }, to: proxy.address))

        let flags = ["--certificate", authority.certificate, "--collector", proxy.address]
        let refused = try await command(["agents"] + flags)
        #expect(refused.status == 2)
        let own = ["--client-certificate", client.certificate, "--client-key", client.key]
        let (status, totals) = try await report(flags + own)
        #expect(status == 0)
        #expect(totals == 60)
    }

    /// `URLSession` on Linux trusts only the system's authorities.
    @Test func libcurlUploadsWithAWarningIfURLSessionCannot() async throws {
        let life = try await life([
            "MARTLET_TRANSPORT": "urlsession", "MARTLET_CERTIFICATE": authority.certificate,
        ])
        #expect(life.result.delivered == 30)
        #expect(
            life.errors.contains("Uploads go over libcurl, because URLSession does not support MARTLET_CERTIFICATE"))
    }

    // MARK: The commands

    private func command(
        _ arguments: [String], _ environment: [String: String] = [:]
    ) async throws -> (status: Int32, output: String, errors: String) {
        let address = arguments.contains("--collector") ? [] : ["--collector", collector.address]
        return try await ChildProcess(.martletCollector, arguments + address, environment: environment).finish()
    }

    private func report(_ flags: [String]) async throws -> (status: Int32, totals: Int) {
        struct Report: Decodable {
            struct Totals: Decodable { let count: Int }
            let totals: Totals
        }
        let answer = try await command(["report", "--format", "json"] + flags)
        let report = try? JSONDecoder().decode(Report.self, from: Data(answer.output.utf8))
        return (answer.status, report?.totals.count ?? 0)
    }

    @Test(arguments: ["MARTLET_COLLECTOR_CERTIFICATE", "SSL_CERT_FILE", "SSL_CERT_FILE and SSL_CERT_DIR"])
    func commandsTrustTheNamedAuthorities(variables: String) async throws {
        let names = variables.components(separatedBy: " and ")
        let values = [authority.certificate, "/etc/ssl/certs"]
        let environment = Dictionary(uniqueKeysWithValues: zip(names, values))
        let answer = try await command(["agents"], environment)
        #expect(answer.status == 0, "\(answer.errors)")
    }

    @Test func commandsRefuseACertificateOfAnUntrustedAuthority() async throws {
        for flags in [[], ["--certificate", stranger.certificate]] {
            let answer = try await command(["agents"] + flags)
            #expect(answer.status == 2)
            #expect(answer.errors.contains("the collector's certificate is not signed by a trusted authority"))
        }
    }

    @Test func commandsNameAnUnusableFile() async throws {
        let missing = folder.path("missing.pem")
        let answer = try await command(["report"], ["MARTLET_COLLECTOR_CERTIFICATE": missing])
        #expect(answer.status == 2)
        #expect(
            answer.errors.contains(
                "--certificate (MARTLET_COLLECTOR_CERTIFICATE): \(missing) is missing or cannot be read"))
        let key = try await authority.sign("client").key
        let other = try await command(["agents", "--client-certificate", key])
        #expect(other.status == 2)
        #expect(other.errors.contains("\(key) contains no certificate in PEM"))
        #expect(try await command(["agents", "--client-key", key]).status == 64)
    }
}

/// A value that a server's body passes to its test.
private actor Box<Value: Sendable> {
    private(set) var value: Value?

    func set(_ value: Value) { self.value = value }
}
