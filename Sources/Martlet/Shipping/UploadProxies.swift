import Foundation

/// Selects the way of an upload. A proxy reads uploads over plain http, and with them the token. So the proxies of the
/// environment apply only to https, and no proxy applies to a collector on this host or in a private network.
struct UploadProxies {
    private let proxy: URL?
    /// The variables that curl would use for https and for http, if they are set.
    private let encrypted: Variable?
    private let plain: Variable?
    /// The hosts of `no_proxy`, which no proxy applies to either.
    private let exceptions: [HostPattern]

    private struct Variable {
        let name: String
        let text: String

        /// The first of the variables that is set; curl uses no `HTTP_PROXY`, which a CGI server sets from a header.
        init?(_ names: [String], in environment: [String: String]) {
            guard let name = names.first(where: { environment[$0]?.isEmpty == false }) else { return nil }
            self.name = name
            text = environment[name] ?? ""
        }

        /// `nil` for a text that is no proxy's URL. Without a scheme it means http, as for curl.
        var address: URL? { EnvironmentValue.proxy(text.contains("://") ? text : "http://" + text) }
    }

    init(
        _ configuration: MartletConfiguration, environment: [String: String] = ProcessInfo.processInfo.environment
    ) {
        proxy = configuration.proxy
        let all = ["all_proxy", "ALL_PROXY"]
        encrypted = Variable(["https_proxy", "HTTPS_PROXY"] + all, in: environment)
        plain = Variable(["http_proxy"] + all, in: environment)
        let list = Variable(["no_proxy", "NO_PROXY"], in: environment)?.text ?? ""
        exceptions = list.split { $0 == "," || $0.isWhitespace }.map { HostPattern(String($0)) }
    }

    /// The settings that `URLSession` on Linux cannot follow. It takes the environment's proxies for every host.
    var settingsNeedingLibcurl: [String] {
        if proxy != nil { return ["MARTLET_PROXY"] }
        return Array(Set([encrypted, plain].compactMap { $0?.name })).sorted().map { "exceptions to \($0)" }
    }

    func way(to collector: URL) -> UploadWay {
        let host = HostPattern.host(of: collector)
        guard !HostPattern.isPrivate(host), !exceptions.contains(where: { $0.matches(host) }) else { return .direct }
        if let proxy { return .proxy(proxy) }
        let isEncrypted = collector.scheme?.lowercased() == "https"
        guard let variable = isEncrypted ? encrypted : plain else { return .direct }
        return isEncrypted ? variable.address.map(UploadWay.proxy) ?? .without(variable.name) : .without(variable.name)
    }
}

/// The way of an upload to the collector.
enum UploadWay: Equatable {
    case direct
    /// Direct, although a variable of the environment names a proxy.
    case without(String)
    case proxy(URL)

    var proxy: URL? { if case .proxy(let url) = self { url } else { nil } }

    /// A note for a person after a failure that may be the proxy's.
    var note: String { proxy.map { " (over the proxy \(CollectorAddress.plain($0).absoluteString))" } ?? "" }

    /// A note for a person after an upload without an answer, which the lack of a proxy may explain.
    var noteWithoutAnswer: String {
        if case .without(let variable) = self { " (uploads do not use \(variable); set MARTLET_PROXY)" } else { note }
    }
}

/// A set of hosts in the form of `no_proxy`: `*`, a domain with everything below it, an address, or a range of addresses
/// (`10.0.0.0/8`). Decides without looking a name up.
enum HostPattern {
    case all
    case domain(String)
    case addresses([UInt8], prefix: Int)

    init(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 1).map(String.init)
        let name = text.lowercased().drop { $0 == "*" || $0 == "." }
        if let address = parts.first.flatMap(Self.address) {
            let prefix = parts.count == 2 ? UInt8(parts[1]) : nil
            self = .addresses(address, prefix: prefix.map(Int.init) ?? address.count * 8)
        } else if name.isEmpty {
            self = .all
        } else {
            self = .domain(String(name))
        }
    }

    /// - Parameter host: as ``host(of:)`` returns it.
    func matches(_ host: String) -> Bool {
        switch self {
        case .all: true
        case .domain(let name): host == name || host.hasSuffix("." + name)
        case .addresses(let network, let prefix):
            Self.address(host).map { $0.count == network.count && Self.share($0, network, prefix: prefix) } ?? false
        }
    }

    /// Hosts that no proxy has to be between: this host, and private networks.
    static let privateHosts = [
        // This host (RFC 6890, RFC 6761).
        "localhost", "localdomain", "127.0.0.0/8", "::1", "0.0.0.0", "::",
        // Private networks, and the network of the link (RFC 1918, RFC 6598, RFC 3927, RFC 4193, RFC 4291).
        "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "169.254.0.0/16", "fc00::/7", "fe80::/10",
        // Names that no public server has (RFC 6762 with its appendix G, RFC 8375, ICANN's `internal`; `svc` of
        // Kubernetes).
        "local", "internal", "intranet", "private", "corp", "home", "lan", "home.arpa", "svc",
    ]
    private static let privatePatterns = privateHosts.map(HostPattern.init)

    /// Whether a host is this one or in a private network. A name without a dot is no public name.
    static func isPrivate(_ host: String) -> Bool {
        (!host.contains(".") && !host.contains(":")) || privatePatterns.contains { $0.matches(host) }
    }

    /// Returns a URL's host in lower case, without brackets, zone and a dot at the end.
    static func host(of url: URL) -> String {
        let host = (url.host ?? "").lowercased().filter { $0 != "[" && $0 != "]" }.prefix { $0 != "%" }
        return String(host.hasSuffix(".") ? host.dropLast() : host)
    }

    /// Returns the bytes of an address, of an IPv4 address also in its IPv6 form; `nil` for a name.
    private static func address(_ text: String) -> [UInt8]? {
        for (family, count) in [(AF_INET, 4), (AF_INET6, 16)] {
            var bytes = [UInt8](repeating: 0, count: count)
            guard inet_pton(family, text, &bytes) == 1 else { continue }
            return bytes.starts(with: mapped) ? Array(bytes.dropFirst(mapped.count)) : bytes
        }
        return nil
    }

    /// The beginning of an IPv4 address in its IPv6 form (RFC 4291, section 2.5.5.2).
    private static let mapped = [UInt8](repeating: 0, count: 10) + [0xff, 0xff]

    private static func share(_ first: [UInt8], _ second: [UInt8], prefix: Int) -> Bool {
        zip(first, second).enumerated().allSatisfy { index, bytes in
            let bits = min(max(prefix - index * 8, 0), 8)
            return (bytes.0 ^ bytes.1) >> (8 - bits) == 0
        }
    }
}
