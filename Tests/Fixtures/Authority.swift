import Foundation

/// A certificate authority of one's own, with the openssl tool.
package struct Authority: Sendable {
    /// A file in PEM.
    package let certificate: String
    private let key: String
    private let folder: TemporaryFolder

    package init(_ name: String, in folder: TemporaryFolder) async throws {
        (certificate, key) = (folder.path("\(name).crt"), folder.path("\(name).key"))
        self.folder = folder
        try await Self.request("/CN=\(name)", certificate, key, [])
    }

    /// A certificate for 127.0.0.1, for a server or a client, and its key; files in PEM.
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
    /// Finds a program of the machine.
    package static let env = Self(url: URL(fileURLWithPath: "/usr/bin/env"))
    package static let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
}
