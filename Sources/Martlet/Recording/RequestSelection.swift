import Foundation

/// Which requests are seen: those that an include pattern names (all, when there is none) and no exclude pattern does.
struct RequestSelection: Sendable {
    private let include: [Pattern]
    private let exclude: [Pattern]

    init(include: [String] = [], exclude: [String] = []) {
        self.include = include.map(Pattern.init)
        self.exclude = exclude.map(Pattern.init)
    }

    func contains(_ url: URL) -> Bool { contains(.url(url)) }

    func contains(_ destination: RequestDestination) -> Bool {
        if include.isEmpty, exclude.isEmpty { return true }
        let target = destination.target
        let isIncluded = include.isEmpty || include.contains { $0.matches(target) }
        return isIncluded && !exclude.contains { $0.matches(target) }
    }

    /// `host[:port][/path]`, each part a glob; a part that is left out matches everything.
    private struct Pattern {
        let host: Glob
        let port: Glob?
        let path: Glob?

        init(_ text: String) {
            let slash = text.firstIndex(of: "/") ?? text.endIndex
            let authority = text[..<slash]
            path = slash == text.endIndex ? nil : Glob(text[slash...])
            // The last colon, unless it belongs to an IPv6 address: `[::1]`.
            let colon = authority.hasSuffix("]") ? nil : authority.lastIndex(of: ":")
            host = Glob(authority[..<(colon ?? authority.endIndex)].lowercased())
            port = colon.map { Glob(authority[authority.index(after: $0)...]) }
        }

        func matches(_ target: RequestTarget) -> Bool {
            host.matches(target.bracketedHost) && port?.matches(String(target.port)) != false
                && path?.matches(target.path) != false
        }
    }
}
