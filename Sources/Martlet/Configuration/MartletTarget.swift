/// The facts about a request by which a service's closures name it or leave it out (``MartletConfiguration/name``,
/// ``MartletConfiguration/ignore``). A plain value.
public struct MartletTarget: Sendable, Hashable {
    /// Whether the service received the request. If not, it made it.
    public var isReceived: Bool
    /// The method in upper case; `_OTHER` for one that no RFC names.
    public var method: String
    /// The server's name or address, in lower case; empty if it is not known.
    public var host: String
    /// The server's port, the scheme's own if the URL names none; 0 if it is not known.
    public var port: Int
    /// The path as it stands in the URL, percent-encoded and without query.
    public var path: String

    /// Makes a target, as a test of a closure needs it.
    public init(isReceived: Bool, method: String, host: String, port: Int, path: String) {
        self.isReceived = isReceived
        self.method = method
        self.host = host
        self.port = port
        self.path = path
    }
}
