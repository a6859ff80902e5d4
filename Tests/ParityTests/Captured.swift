/// The number of requests that the agent captures in a cell. Most cells have one; the table lists the others.
/// `docs/internals/capture.md` explains why.
enum Captured {
    static func requests(in cell: String, mode: ParityRun.Mode) -> Int {
        guard let counts = exceptions[cell] else { return 1 }
        return mode == .automatic ? counts.automatic : counts.explicit
    }

    /// Returns whether the agent adds its trace to a request that the server received.
    static func isTraced(_ received: ParityRun.Received, in cell: String, mode: ParityRun.Mode) -> Bool {
        guard requests(in: cell, mode: mode) > 0, received.head.first?.hasPrefix("CONNECT ") == false else {
            return false
        }
        // Explicit mode cannot see the attempt after a challenge.
        let isAnswer = received.head.contains { $0.lowercased().hasPrefix("authorization:") }
        return !(mode == .explicit && isAnswer && answeredChallenges.contains(cell))
    }

    /// Whether a rule changes the cell's first request.
    static func isRuled(_ cell: String) -> Bool { cell.hasPrefix("rule ") }

    /// Returns the servers that the requests of a cell with a rule reach, in order.
    static func rolesReached(in cell: String) -> [String] { reached[cell] ?? [] }

    /// The cells whose requests reach a server despite the rule, or because of it.
    private static let reached: [String: [String]] = [
        "rule answers with a redirect, completion handler": ["http"],
        "rule answers with a redirect, session delegate": ["http"],
        "rule answers with cookies": ["http"],
        "rule delays, completion handler": ["http"],
        "rule delays, session delegate": ["tls"],
        "rule delays over HTTP/2": ["http2"],
        "rule delays a download": ["http"],
        "rule connects elsewhere": ["proxy"],
        "rule connects elsewhere, upload": ["proxy"],
        "rule sends to another host": ["tls"],
        "rule sends to another host, session delegate": ["tls"],
    ]

    private static let answeredChallenges: Set = [
        "challenge answered by a session delegate",
        "challenge answered by a delegate, upload",
        "challenge answered, async with a task delegate's session",
        "challenge answered wrongly, then cancelled",
        "challenge answered wrongly, then rightly",
        "challenge answered wrongly twice, then handled by default",
        "challenge handled by default, with a credential proposed",
        "challenge handled by default, with a wrong credential proposed",
        "digest challenge with one of Basic behind it",
        "challenge over tls",
        "challenge over http2",
    ]

    private static let exceptions: [String: (automatic: Int, explicit: Int)] = [
        // Explicit mode does not see a session whose configuration was not passed to it.
        "shared session, completion handler": (1, 0),
        "shared session, async": (1, 0),
        "session whose protocols are replaced after the capture": (1, 0),

        // These cells make more than one request.
        "session with cookies": (2, 2),
        "rule answers with cookies": (2, 2),
        "session that takes no cookies": (2, 2),
        "one connection for a host": (4, 4),
        "connection kept alive": (3, 3),
        "connection kept alive over tls": (2, 2),
        "connection kept alive over http2": (2, 2),
        "connection closed by the server between requests": (2, 2),
        "64 at once, completion handler": (64, 64),
        "64 at once, async": (64, 64),
        "64 at once, HTTP/2": (64, 64),
        "64 at once, uploads over sessions of their own": (64, 64),

        // These requests are never loaded.
        "cancelled before resume, completion handler": (0, 0),
        "cancelled before resume, session delegate": (0, 0),
        "failure: no such scheme": (0, 0),
        "failure: scheme in upper case": (0, 0),

        // Loaders other than the HTTP loader load these requests.
        "foreign protocol, registered before the first session": (0, 0),
        "foreign protocol, put in front before the capture": (0, 0),
        "foreign protocol, put in front after the capture": (0, 0),
        "foreign protocol, alone": (0, 0),
        "foreign protocol, to a session delegate": (0, 0),
        "foreign protocol that fails": (0, 0),
        "WebSocket": (0, 0),
        "FTP": (0, 0),
        "FTP, session delegate": (0, 0),
        "data URL": (0, 0),
    ]
}
