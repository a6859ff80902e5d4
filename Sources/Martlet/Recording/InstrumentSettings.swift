import Foundation
import MartletTelemetry

/// The part of the configuration that instruments need.
struct InstrumentSettings: Sendable {
    /// The patterns that select the captured requests.
    let selection: RequestSelection
    /// The service's closures, which name requests or exclude them.
    let decisions: ServiceClosures
    /// The sampler that decides which traces' details are kept.
    let sampler: TraceSampler
    /// Whether requests carry `traceparent` and `tracestate`.
    private let propagates: Bool
    /// The targets whose requests carry them; `nil` for all.
    private let traced: RequestSelection?
    /// The header fields and bodies that kept details contain.
    let contents: DetailContents
    /// The time in flight after which a request counts as hung.
    let hung: Duration

    init(_ configuration: MartletConfiguration) {
        selection = RequestSelection(include: configuration.include, exclude: configuration.exclude)
        decisions = ServiceClosures(configuration)
        let trust = configuration.ignoresCallersFlag ? CallerTrust.traceID : .flag
        sampler = TraceSampler(
            rate: configuration.sampleRate, trust: configuration.trustCallers ? trust : .nothing)
        propagates = configuration.propagate
        traced = configuration.propagateTo.isEmpty ? nil : RequestSelection(include: configuration.propagateTo)
        contents = DetailContents(configuration)
        hung = configuration.hung
    }

    /// Returns whether a request carries `traceparent` and `tracestate`. If only some targets may get them, a request to
    /// an unknown target does not.
    ///
    /// - Parameter target: only read if the targets are limited.
    func propagates(to target: @autoclosure () -> RequestTarget?) -> Bool {
        guard propagates, let traced else { return propagates }
        return target().map { traced.contains(.target($0)) } ?? false
    }
}

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
            // The last colon begins the port, unless it is part of an IPv6 address: `[::1]`.
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

/// The service's closures that decide about requests: ``MartletConfiguration/name`` and
/// ``MartletConfiguration/ignore``. They run on the caller's thread, which holds no lock of the agent. Their time
/// counts as the service's.
struct ServiceClosures: Sendable {
    private let name: (@Sendable (MartletTarget) -> String?)?
    private let ignore: (@Sendable (MartletTarget) -> Bool)?

    /// Whether a closure is running. A request that the closure makes is counted without calling the closure again,
    /// which might never end.
    @TaskLocal private static var isDeciding = false

    init(_ configuration: MartletConfiguration) {
        name = configuration.name
        ignore = configuration.ignore
    }

    /// Returns whether the service leaves a request out.
    func ignore(_ kind: RequestKind, _ method: String, _ destination: RequestDestination) -> Bool {
        guard let ignore else { return false }
        return Self.decide { ignore(MartletTarget(kind, method, destination.target)) } ?? false
    }

    /// Returns the name that the service gives the endpoint of a request; `nil` if it gives none.
    func name(of request: borrowing CapturedRequest) -> String? {
        guard let name else { return nil }
        // A database or a message broker has no path to name.
        if let conventions = request.system?.conventions, conventions != .rpc { return nil }
        let target = MartletTarget(request.kind, request.method, request.destination.target)
        guard let text = Self.decide({ name(target) }) ?? nil, !text.isEmpty else { return nil }
        return text.cut(toBytes: MartletLimits.spanName)
    }

    /// Returns the closure's decision; `nil` if this is called within a closure.
    private static func decide<Decision>(_ closure: () -> Decision) -> Decision? {
        isDeciding ? nil : $isDeciding.withValue(true) { AgentCost.excludingTime(of: closure) }
    }
}

extension MartletTarget {
    fileprivate init(_ kind: RequestKind, _ method: String, _ target: RequestTarget) {
        self.init(
            isReceived: kind == .server, method: method, host: target.host, port: target.port, path: target.path)
    }
}
