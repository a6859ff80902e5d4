import Foundation

/// The patterns that select the captured requests. A request is captured if an include pattern matches or there is none,
/// and if no exclude pattern matches.
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

    /// A pattern `host[:port][/path]`. Each part is a glob, and a missing part matches everything.
    private struct Pattern {
        let host: Glob
        let port: Glob?
        let path: Glob?

        init(_ text: String) {
            let slash = text.firstIndex(of: "/") ?? text.endIndex
            let authority = text[..<slash]
            path = slash == text.endIndex ? nil : Glob(text[slash...])
            // The last colon begins the port, unless it belongs to an IPv6 address: `[::1]`.
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
