import MartletReports

/// The collector's address and the flags of the commands on the page.
enum CollectorFlags {
    /// The addresses that commands ask without a flag.
    private static let defaults: Set = ["127.0.0.1:4318", "localhost:4318"]

    /// Returns the flags with which a command asks the collector that a page came from.
    ///
    /// - Parameter authority: the request's `Host`. One without a port may be a proxy's, and whether that has TLS is not known, so there
    ///   are no flags for it.
    static func asking(_ authority: String?, isTLS: Bool) -> [CommandFlag] {
        guard let authority, isTLS || !defaults.contains(authority), AllowedHosts.host(of: authority) != nil,
            !AllowedHosts.parts(of: authority).port.isEmpty
        else { return [] }
        return [CommandFlag("collector", url(authority, isTLS))]
    }

    /// Returns the address by which a request reached the collector; `nil` if its `Host` is no name and no address.
    ///
    /// - Parameter scheme: the request's scheme before a proxy, `X-Forwarded-Proto`; `nil` without one.
    static func address(_ authority: String?, isTLS: Bool, forwarded scheme: String?) -> String? {
        guard let authority, AllowedHosts.host(of: authority) != nil else { return nil }
        return url(authority, isTLS || scheme?.lowercased() == "https")
    }

    private static func url(_ authority: String, _ isTLS: Bool) -> String {
        "\(isTLS ? "https" : "http")://\(authority)"
    }
}
