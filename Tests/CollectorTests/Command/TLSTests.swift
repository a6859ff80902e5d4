import Fixtures
import Foundation
import Testing

/// `serve --tls-certificate --tls-key`, with certificates that OpenSSL makes and requests that curl sends.
@Suite(.timeLimit(.minutes(2))) struct TLSTests {
    private let folder: TemporaryFolder
    private var certificate: String { folder.path("server.crt") }
    private var key: String { folder.path("server.key") }

    init() async throws {
        folder = try TemporaryFolder()
        try await makeCertificate("server")
    }

    private func makeCertificate(_ name: String, _ options: String...) async throws {
        _ = try await run(
            "openssl",
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-days", "1", "-subj",
                "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", folder.path("\(name).key"),
                "-out", folder.path("\(name).crt"),
            ] + (options.isEmpty ? ["-nodes"] : options))
    }

    private func run(_ program: String, _ arguments: [String]) async throws -> (status: Int32, output: String) {
        let env = ChildProcess.Program(url: URL(fileURLWithPath: "/usr/bin/env"))
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        let result = try await ChildProcess(env, [program] + arguments, environment: ["PATH": path]).finish()
        return (result.status, result.output)
    }

    private func complaint(certificate: String?, key: String?) async throws -> String {
        let flags = [("--tls-certificate", certificate), ("--tls-key", key)].flatMap { flag, path in
            path.map { [flag, $0] } ?? []
        }
        let result = try await ChildProcess(
            .martletCollector, ["serve", "--port", "0", "--store", "sqlite:" + folder.path("c.sqlite")] + flags
        ).finish()
        #expect(result.status != 0)
        #expect(!FileManager.default.fileExists(atPath: folder.path("c.sqlite")))
        return result.errors
    }

    @Test func collectorServesAndAnnouncesHTTPS() async throws {
        let collector = try await CollectorProcess(
            store: folder.path("c.sqlite"),
            environment: ["MARTLET_COLLECTOR_TLS_CERTIFICATE": certificate, "MARTLET_COLLECTOR_TLS_KEY": key])
        #expect(collector.address.hasPrefix("https://127.0.0.1:"))
        let flags = ["--silent", "--show-error", "--max-time", "20"]
        let trusted = try await run("curl", flags + ["--cacert", certificate, collector.address + "/healthz"])
        #expect(trusted.output.contains("ok"))

        try Data(try Samples.body()).write(to: folder.url.appendingPathComponent("body"))
        let post = try await run(
            "curl",
            flags + [
                "--cacert", certificate, "--write-out", "%{http_code}", "--header",
                "Content-Type: application/x-protobuf",
                "--data-binary", "@" + folder.path("body"), collector.address + "/v1/metrics",
            ])
        #expect(post.output == "200")

        // curl exits with 60 if it does not trust the certificate, 35 if TLS 1.1 is refused, and 1, 52 or 56 without TLS.
        #expect(try await run("curl", flags + [collector.address + "/healthz"]).status == 60)
        let old = ["--cacert", certificate, "--tls-max", "1.1", "--ciphers", "DEFAULT@SECLEVEL=0"]
        #expect(try await run("curl", flags + old + [collector.address + "/healthz"]).status == 35)
        let plain = collector.address.replacingOccurrences(of: "https", with: "http")
        #expect([1, 52, 56].contains(try await run("curl", flags + [plain + "/healthz"]).status))
        #expect(await collector.terminate() == 0)
    }

    @Test func healthWorksWithACertificateForAnotherName() async throws {
        _ = try await run(
            "openssl",
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-days", "1", "-subj",
                "/CN=collector.example.com", "-keyout", folder.path("far.key"), "-out", folder.path("far.crt"),
                "-nodes",
            ])
        let files = [
            "MARTLET_COLLECTOR_TLS_CERTIFICATE": folder.path("far.crt"),
            "MARTLET_COLLECTOR_TLS_KEY": folder.path("far.key"),
        ]
        let collector = try await CollectorProcess(store: folder.path("c.sqlite"), environment: files)
        let variables = files.merging(["MARTLET_COLLECTOR_PORT": "\(collector.port)"]) { $1 }
        let own = try await ChildProcess(.martletCollector, ["health"], environment: variables).finish()
        #expect(own.status == 0)
        let named = try await ChildProcess(.martletCollector, ["health", "--collector", collector.address]).finish()
        #expect(named.status == 0)
    }

    @Test(arguments: [
        (true, "begins with https://"), (false, "it answers without TLS; its address begins with http://"),
    ])
    func commandWithTheWrongSchemeNamesTheRightOne(isTLS: Bool, sentence: String) async throws {
        let files = ["MARTLET_COLLECTOR_TLS_CERTIFICATE": certificate, "MARTLET_COLLECTOR_TLS_KEY": key]
        let collector = try await CollectorProcess(
            store: folder.path("c.sqlite"), environment: isTLS ? files : [:])
        let address = "\(isTLS ? "http" : "https")://127.0.0.1:\(collector.port)"
        let report = try await ChildProcess(.martletCollector, ["report", "--collector", address]).finish()
        #expect(report.status == 2)
        #expect(report.errors.hasSuffix(sentence + "\n"), "\(report.errors)")
    }

    @Test func newCertificateIsServedAfterSIGHUPButNotAWrongOne() async throws {
        let collector = try await CollectorProcess(
            store: folder.path("c.sqlite"),
            environment: ["MARTLET_COLLECTOR_TLS_CERTIFICATE": certificate, "MARTLET_COLLECTOR_TLS_KEY": key])
        let old = try Data(contentsOf: URL(fileURLWithPath: certificate))
        try await makeCertificate("server")
        let new = try Data(contentsOf: URL(fileURLWithPath: certificate))
        #expect(old != new)
        collector.signal(SIGHUP)
        try await wait(for: "the new certificate") { try await trusts(certificate, collector.address) }

        try Data("nothing".utf8).write(to: URL(fileURLWithPath: key))
        try new.write(to: folder.url.appendingPathComponent("trusted"))
        collector.signal(SIGHUP)
        try await collector.hasLogged("the certificate and its key could not be reloaded")
        #expect(try await trusts(folder.path("trusted"), collector.address))
    }

    private func trusts(_ authority: String, _ address: String) async throws -> Bool {
        let flags = ["--silent", "--max-time", "20", "--cacert", authority, address + "/healthz"]
        return try await run("curl", flags).status == 0
    }

    @Test func certificateOrKeyWithoutTheOtherIsReportedInASentence() async throws {
        let sentence = "--tls-certificate and --tls-key must be given together"
        #expect(try await complaint(certificate: certificate, key: nil).contains(sentence))
        #expect(try await complaint(certificate: nil, key: key).contains(sentence))
    }

    @Test func missingFileIsNamed() async throws {
        let missing = folder.path("nothing")
        #expect(try await complaint(certificate: missing, key: key).contains("\(missing) is missing or cannot be read"))
        #expect(
            try await complaint(certificate: certificate, key: missing).contains(
                "\(missing) is missing or cannot be read"))
    }

    @Test func fileOfAnotherKindIsNamed() async throws {
        #expect(try await complaint(certificate: key, key: key).contains("\(key) contains no certificate in PEM"))
        #expect(
            try await complaint(certificate: certificate, key: certificate)
                .contains("\(certificate) contains no unencrypted private key"))
    }

    @Test func keyWithAPassphraseIsRefusedWithoutAPrompt() async throws {
        try await makeCertificate("locked", "-passout", "pass:secret")
        let errors = try await complaint(certificate: folder.path("locked.crt"), key: folder.path("locked.key"))
        #expect(errors.contains("contains no unencrypted private key in PEM"))
    }

    @Test func keyOfAnotherCertificateIsReportedInASentence() async throws {
        try await makeCertificate("other")
        let errors = try await complaint(certificate: certificate, key: folder.path("other.key"))
        #expect(errors.contains("does not belong to the certificate in \(certificate)"))
    }
}
