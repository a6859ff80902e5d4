/// The address at which the collector listens.
package struct ListenAddress: Sendable, Equatable {
    package var host: String
    /// The port; 0 for a free port.
    package var port: Int

    package init(host: String, port: Int) {
        self.host = host
        self.port = port
    }

    /// Whether only programs on the same machine can connect (RFC 6890: 127.0.0.0/8 and ::1).
    package var isLoopback: Bool {
        if host == "localhost" || host == "::1" { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }

    /// Returns the beginning of a URL, with the bound port.
    package func url(port: Int, isTLS: Bool = false) -> String {
        let scheme = isTLS ? "https" : "http"
        return host.contains(":") ? "\(scheme)://[\(host)]:\(port)" : "\(scheme)://\(host):\(port)"
    }
}
