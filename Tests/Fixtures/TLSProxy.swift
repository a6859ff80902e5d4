import Foundation

/// nginx in front of a collector. It speaks https and asks its clients for a certificate. It ends when the value is released.
package final class TLSProxy: Sendable {
    package let address: String
    private let process: ChildProcess

    /// Starts nginx and returns when it listens.
    ///
    /// - Parameters:
    ///   - clients: The path of a PEM file with the authority of the clients' certificates.
    ///   - port: The collector's port.
    package init(
        _ server: (certificate: String, key: String), clients: String, to port: Int, in folder: TemporaryFolder
    ) async throws {
        let own = try Self.freePort()
        let configuration = """
            daemon off; master_process off; pid \(folder.path("nginx.pid")); error_log /dev/stdout notice;
            events {}
            http {
                access_log off;
                client_body_temp_path \(folder.path("body")); proxy_temp_path \(folder.path("proxy"));
                fastcgi_temp_path \(folder.path("fastcgi")); uwsgi_temp_path \(folder.path("uwsgi"));
                scgi_temp_path \(folder.path("scgi"));
                server {
                    listen 127.0.0.1:\(own) ssl;
                    ssl_certificate \(server.certificate); ssl_certificate_key \(server.key);
                    ssl_client_certificate \(clients); ssl_verify_client on;
                    location / { proxy_pass http://127.0.0.1:\(port); }
                }
            }
            """
        try Data(configuration.utf8).write(to: folder.url.appendingPathComponent("nginx.conf"))
        process = try ChildProcess(
            .env, ["nginx", "-p", folder.url.path, "-c", folder.path("nginx.conf")],
            environment: ["PATH": ChildProcess.Program.path + ":/usr/sbin"])
        address = "https://127.0.0.1:\(own)"
        // nginx writes this line last when it starts.
        while case let line = await process.readLine(), !line.contains("getrlimit") {
            if line.isEmpty { throw ChildProcess.Failure(output: "nginx did not start") }
        }
    }

    /// Returns a port that is free now. nginx could choose a port itself, but does not report which one. Another process rarely
    /// takes the port in the short time between.
    private static func freePort() throws -> Int {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var size = socklen_t(MemoryLayout.size(ofValue: address))
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, size) == 0 && getsockname(descriptor, $0, &size) == 0
            }
        }
        guard isBound else { throw CocoaError(.fileReadUnknown) }
        return Int(in_port_t(bigEndian: address.sin_port))
    }
}
