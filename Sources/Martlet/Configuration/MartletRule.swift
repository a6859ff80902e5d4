public import Foundation

/// A change to some of the requests that `URLSession` makes, for drills and tests: another address, a fixed answer, a
/// delay, a failure, other header fields. A plain value. `docs/rules.md` describes what a caller sees.
///
/// A rule may have a ``header``, a ``delay``, and one of ``connect``, ``redirect``, ``respond``, ``fail`` and
/// ``block``. A rule with none of them is invalid.
public struct MartletRule: Sendable, Hashable {
    /// The name in reports, at most 255 bytes; `nil`, the default, for the rule's number, from 1.
    public var name: String?
    /// The requests that the rule applies to. Default: all.
    public var match = Match()
    /// The header fields that the request is sent with. Default: as the caller and `URLSession` set them.
    public var header = Header()
    /// An address `host:port` to connect to instead of the URL's. The field `Host` and the name in TLS stay those of the
    /// URL (as with `curl --connect-to`). Default none.
    public var connect: String?
    /// A URL whose scheme, host and port replace those of the request; path and query stay. It must not have a path.
    /// Default none.
    public var redirect: URL?
    /// The answer that the caller gets. Nothing is sent. Default none.
    public var respond: Response?
    /// How long the answer is delayed, at most a day. Default zero.
    public var delay = Duration.zero
    /// The failure that the caller gets. Nothing is sent. Default none.
    public var fail: Failure?
    /// Whether the caller gets ``Failure/connectionRefused``. Nothing is sent. Default `false`.
    public var block = false

    /// Makes a rule without an action, which the caller has to set.
    public init(name: String? = nil, match: Match = Match()) {
        self.name = name
        self.match = match
    }

    /// The requests that a rule applies to. All given parts have to match.
    public struct Match: Sendable, Hashable {
        /// A glob on the URL's host, in any case; `*` matches any characters.
        public var host: String?
        /// The URL's port, the scheme's own where the URL names none.
        public var port: Int?
        /// A template of the URL's path, as in ``MartletConfiguration/endpoints``: `/pay/{id}`, `/slow/*`.
        public var path: String?
        /// The method, in any case.
        public var method: String?
        /// Globs on the values of header fields that the caller set, by name. A missing field matches no glob.
        public var header: [String: String] = [:]
        /// The share of requests that match the other parts, more than 0 and at most 1. It is decided at random for
        /// each request.
        public var share = 1.0

        /// Makes a match of these parts. Without any, all requests match.
        public init(host: String? = nil, path: String? = nil, method: String? = nil) {
            self.host = host
            self.path = path
            self.method = method
        }
    }

    /// Changes of the header fields that are sent.
    public struct Header: Sendable, Hashable {
        /// Fields by name. A value replaces all values in the request.
        public var set: [String: String] = [:]
        /// The names of fields that are not sent, even if libcurl would add them.
        public var remove: [String] = []

        /// Makes the changes, by default none.
        public init(set: [String: String] = [:], remove: [String] = []) {
            self.set = set
            self.remove = remove
        }
    }

    /// An answer over HTTP/1.1.
    public struct Response: Sendable, Hashable {
        /// 200...599.
        public var status: Int
        /// Fields by name. `Content-Length` is added where it is missing.
        public var headers: [String: String]
        /// The body, encoded as it is sent.
        public var body: Data

        /// Makes an answer, by default without fields and body.
        public init(status: Int, headers: [String: String] = [:], body: Data = Data()) {
            self.status = status
            self.headers = headers
            self.body = body
        }
    }

    /// Failures, named like the `error.type` that they are counted under.
    public enum Failure: String, Sendable, CaseIterable {
        /// The name of the host is not found.
        case dns
        /// No program listens at the address.
        case connectionRefused = "connection_refused"
        /// The host cannot be reached.
        case connectionFailed = "connection_failed"
        /// The peer closes the connection before it answers.
        case connectionReset = "connection_reset"
        /// The answer does not come in time.
        case timeout
        /// The handshake fails, or the certificate is not trusted.
        case tls
        /// The request is redirected too often.
        case tooManyRedirects = "too_many_redirects"
        /// The answer is not HTTP.
        case invalidResponse = "invalid_response"
    }
}
