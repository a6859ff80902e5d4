import Foundation

/// A certificate authority for tests, made with the openssl tool.
package struct Authority: Sendable {
    /// The path of the authority's certificate in PEM.
    package let certificate: String
    private let key: String
    private let folder: TemporaryFolder

    package init(_ name: String, in folder: TemporaryFolder) async throws {
        (certificate, key) = (folder.path("\(name).crt"), folder.path("\(name).key"))
        self.folder = folder
        try await Self.request("/CN=\(name)", certificate, key, [])
    }

    /// Makes a certificate for 127.0.0.1, for a server or a client, and its key. Returns the paths of both files in PEM.
    package func sign(_ name: String) async throws -> (certificate: String, key: String) {
        let files = (folder.path("\(name).crt"), folder.path("\(name).key"))
        try await Self.request(
            "/CN=localhost", files.0, files.1,
            [
                "-CA", certificate, "-CAkey", key, "-addext", "subjectAltName=IP:127.0.0.1", "-addext",
                "basicConstraints=critical,CA:FALSE",
            ])
        return files
    }

    private static func request(
        _ subject: String, _ certificate: String, _ key: String, _ options: [String]
    ) async throws {
        let arguments = [
            "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days",
            "1",
            "-subj", subject, "-keyout", key, "-out", certificate,
        ]
        let (status, _, errors) = try await ChildProcess(
            .env, arguments + options, environment: ["PATH": ChildProcess.Program.path]
        ).finish()
        guard status == 0 else { throw ChildProcess.Failure(output: errors) }
    }
}

extension ChildProcess.Program {
    /// The program that finds other programs of the machine.
    package static let env = Self(url: URL(fileURLWithPath: "/usr/bin/env"))
    package static let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
}
