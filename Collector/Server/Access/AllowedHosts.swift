import NIOCore

/// The names that readers may reach the collector by. A page of another site can give its own name this machine's address, and
/// a browser would then let it read the answers (DNS rebinding); it still sends its own name.
package struct AllowedHosts: Sendable {
    /// The names of `--allowed-host`, in lower case.
    private let names: Set<String>

    package init(_ names: [String] = []) {
        self.names = Set(names.map { $0.lowercased() })
    }

    /// Returns whether a request with this authority is answered. Addresses, `localhost` and names without a dot are: no other
    /// site has such a name.
    ///
    /// - Parameter authority: the request's `Host`: a name or an address, and perhaps a port.
    func allow(_ authority: String) -> Bool {
        let host = Self.host(of: authority).lowercased()
        return !host.contains(".") || host.hasSuffix(".localhost") || names.contains(host) || Self.isAddress(host)
    }

    /// The name without its port.
    static func host(of authority: String) -> String {
        if authority.hasPrefix("["), let end = authority.firstIndex(of: "]") {
            return String(authority[authority.index(after: authority.startIndex)..<end])
        }
        return authority.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).first.map(String.init)
            ?? ""
    }

    private static func isAddress(_ host: String) -> Bool { (try? SocketAddress(ipAddress: host, port: 0)) != nil }
}
