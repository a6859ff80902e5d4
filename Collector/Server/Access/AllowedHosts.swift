import Hummingbird
import MartletPage
import MartletReports
import NIOCore

/// The names by which readers may reach the collector. A page of another site can point its own name at this machine's address,
/// and a browser would then let it read the answers (DNS rebinding). But the browser's request still has that name as its host.
package struct AllowedHosts: Sendable {
    /// The names of `--allowed-host`, in lower case.
    private let names: Set<String>

    package init(_ names: [String] = []) {
        self.names = Set(names.map { $0.lowercased() })
    }

    /// Returns whether a request with this authority is answered. Addresses, `localhost` and names without a dot are allowed:
    /// no other site has such a name.
    ///
    /// - Parameter authority: the request's `Host`: a name or an address, possibly with a port.
    func allow(_ authority: String) -> Bool {
        guard let host = Self.host(of: authority)?.lowercased() else { return false }
        return !host.contains(".") || host.hasSuffix(".localhost") || names.contains(host) || Self.isAddress(host)
    }

    /// The name without its port and without a dot at its end; `nil` if the text is neither a name nor an address (RFC 3986,
    /// section 3.2.2, without escapes).
    static func host(of authority: String) -> String? {
        let (name, port) = parts(of: authority)
        guard !name.isEmpty, port.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
            return nil
        }
        if name.hasPrefix("[") {
            let address = String(name.dropFirst().dropLast())
            return name.hasSuffix("]") && address.contains(":") && isAddress(address) ? address : nil
        }
        guard name.utf8.allSatisfy(isPlain) else { return nil }
        return String(name.hasSuffix(".") ? name.dropLast() : name)
    }

    static func parts(of authority: String) -> (name: Substring, port: Substring) {
        let end = authority.lastIndex(of: "]").map { authority.index(after: $0) } ?? authority.startIndex
        guard let colon = authority[end...].firstIndex(of: ":") else { return (authority[...], "") }
        return (authority[..<colon], authority[authority.index(after: colon)...])
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
            true
        default: false
        }
    }

    private static func isAddress(_ host: String) -> Bool { (try? SocketAddress(ipAddress: host, port: 0)) != nil }
}

/// Refuses readers who reach the collector by a foreign name (``AllowedHosts``).
struct AllowedHostMiddleware<Context: RequestContext>: RouterMiddleware {
    let hosts: AllowedHosts

    func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        guard let authority = request.head.authority, !hosts.allow(authority) else {
            return try await next(request, context)
        }
        let host = TerminalText.plain(AllowedHosts.host(of: authority) ?? "")
        let sentence =
            host.isEmpty
            ? "the request has no valid host name"
            : "the host name \(host) is not allowed; start the collector with --allowed-host \(host) to allow it"
        return try Response.json(Problem(error: sentence), status: HTTPResponse.Status(code: 421))
    }
}

/// Refuses requests that another site made a browser send. A browser sends a user's cookies with them, and asks for no consent
/// before it sends a form.
///
/// A browser sends the origin of a request in `Sec-Fetch-Site` (Fetch Metadata Request Headers, section 2.3), or at least in
/// `Origin` (RFC 6454, section 7). A request with neither comes from a program.
struct SameOriginMiddleware<Context: RequestContext>: RouterMiddleware {
    let refuse: @Sendable () throws -> Response

    func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        guard isSameOrigin(request) else { return try refuse() }
        return try await next(request, context)
    }

    private func isSameOrigin(_ request: Request) -> Bool {
        if let site = HTTPFields.Element.Name("Sec-Fetch-Site").flatMap({ request.headers[$0] }) {
            // For a typed address or a bookmark, a browser sends `none`.
            return ["same-origin", "none"].contains(site)
        }
        guard let origin = request.headers[.origin] else { return true }
        // The scheme is not compared: behind a proxy, the browser's scheme may differ from the collector's.
        guard let host = request.head.authority, let start = origin.range(of: "://") else { return false }
        return origin[start.upperBound...].lowercased() == host.lowercased()
    }
}

/// The address at which the collector listens.
package struct ListenAddress: Sendable {
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
