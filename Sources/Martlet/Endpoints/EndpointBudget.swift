import MartletTelemetry

/// A limited set of names. The first ones get a place, and one that was not used for ``MartletLimits/unusedEndpoint`` gives
/// its place up.
struct NameBudget<Name: Hashable & Sendable>: Sendable {
    private let limit: Int
    /// The time of the last use of each name.
    private var used: [Name: UnixNanoseconds] = [:]

    init(limit: Int) {
        self.limit = limit
    }

    func contains(_ name: Name) -> Bool { used[name] != nil }

    /// Returns whether a name has a place, or gets one.
    mutating func admit(_ name: Name, at now: UnixNanoseconds) -> Bool {
        guard used[name] != nil || used.count < limit else { return false }
        used[name] = now
        return true
    }

    /// Forgets the names that were not used lately, if the limit is reached. Returns whether it was.
    @discardableResult
    mutating func forgetUnused(at now: UnixNanoseconds) -> Bool {
        guard used.count >= limit else { return false }
        used = used.filter { _, last in last > now || now - last < MartletLimits.unusedEndpoint.nanoseconds }
        return true
    }

    mutating func remove(where isRemoved: (Name) -> Bool) { used = used.filter { !isRemoved($0.key) } }
}

/// A limit on the number of distinct endpoints, so that no URL can make the agent or the collector grow without bound.
/// The first endpoints keep their names, and later ones are counted under `{other}`.
struct EndpointBudget: Sendable {
    private struct Key: Hashable {
        let host: String
        let port: Int
        let endpoint: String
        /// The operation of a database or a message broker. `nil` for an HTTP request, whose methods are few.
        let operation: String?

        init(_ dimensions: RequestDimensions) {
            host = dimensions.host
            port = dimensions.port
            endpoint = dimensions.endpoint
            operation = dimensions.isOfPaths ? nil : dimensions.method
        }
    }

    private var named: NameBudget<Key>
    private var overflowHosts: NameBudget<Key>

    init(limit: Int) {
        named = NameBudget(limit: limit)
        overflowHosts = NameBudget(limit: limit)
    }

    /// Returns the dimensions under which a request is counted: its own endpoint within the limit, and `{other}` of its
    /// host above it. The same limit applies to hosts, and above it the host is `{other}` as well.
    ///
    /// - Parameter now: the approximate time of the request.
    mutating func admit(_ wanted: RequestDimensions, at now: UnixNanoseconds) -> RequestDimensions {
        var dimensions = wanted
        if named.admit(Key(dimensions), at: now) { return dimensions }
        dimensions.endpoint = RequestDimensions.other
        if !dimensions.isOfPaths { dimensions.method = RequestDimensions.otherMethodOrError }
        if overflowHosts.admit(Key(dimensions), at: now) { return dimensions }
        dimensions.host = RequestDimensions.other
        dimensions.port = 0
        return dimensions
    }

    /// Gives back the places of a host's endpoints whose segment behind a prefix is a name. The segment is a value from
    /// now on.
    mutating func release(_ prefix: String, of target: RequestTarget) {
        named.remove { key in
            key.host == target.host && key.port == target.port && key.endpoint.hasPrefix(prefix)
                && !key.endpoint.dropFirst(prefix.count).hasPrefix("{")
        }
    }

    /// Forgets endpoints and hosts that were not used lately. Call it now and then.
    mutating func forgetUnused(at now: UnixNanoseconds) {
        named.forgetUnused(at: now)
        overflowHosts.forgetUnused(at: now)
    }
}

extension RequestDimensions {
    /// Whether the request has a method and a path of HTTP, or the method of a remote procedure call in its place.
    fileprivate var isOfPaths: Bool { conventions == .http || conventions == .rpc }
}

/// The budgets of a process's endpoints. Outgoing and incoming requests have separate ones, so that no client can take the
/// names of the requests that the service makes. So have calls of databases and message brokers, whose statements may be
/// many.
struct EndpointBudgets: Sendable {
    private struct Host: Hashable {
        let name: String
        let port: Int
    }

    private var outgoing: EndpointBudget
    private var incoming: EndpointBudget
    private var calls: EndpointBudget
    /// The hosts under which routes were served. A client may send any `Host`, so there are few, and a request that
    /// matched no route adds none.
    private var servedHosts = NameBudget<Host>(limit: MartletLimits.servedHosts)

    /// - Parameter limit: the number of endpoints of each kind.
    init(limit: Int) {
        outgoing = EndpointBudget(limit: limit)
        incoming = EndpointBudget(limit: limit)
        calls = EndpointBudget(limit: limit)
    }

    /// Returns the dimensions under which a request is counted. An incoming request whose host has no place has no host.
    mutating func admit(_ wanted: RequestDimensions, at now: UnixNanoseconds) -> RequestDimensions {
        guard wanted.isOfPaths else { return calls.admit(wanted, at: now) }
        guard wanted.kind == .server else { return outgoing.admit(wanted, at: now) }
        let host = Host(name: wanted.host, port: wanted.port)
        let isKnown =
            wanted.endpoint == RequestDimensions.unmatched
            ? servedHosts.contains(host) : servedHosts.admit(host, at: now)
        var dimensions = wanted
        (dimensions.host, dimensions.port) = ("", 0)
        dimensions = incoming.admit(dimensions, at: now)
        if isKnown { (dimensions.host, dimensions.port) = (wanted.host, wanted.port) }
        return dimensions
    }

    /// Gives back the places of endpoints of outgoing requests (``EndpointBudget/release(_:of:)``).
    mutating func release(_ prefix: String, of target: RequestTarget) { outgoing.release(prefix, of: target) }

    /// Forgets endpoints and hosts that were not used lately. Call it now and then.
    mutating func forgetUnused(at now: UnixNanoseconds) {
        outgoing.forgetUnused(at: now)
        incoming.forgetUnused(at: now)
        calls.forgetUnused(at: now)
        servedHosts.forgetUnused(at: now)
    }
}

/// A limit on the number of distinct `error.type`s, because an instrument may put an error's text into one. The first
/// types keep their names, and later ones become `_OTHER`. Statuses and the agent's own names always stay.
struct ErrorTypeBudget: Sendable {
    /// Every `ErrorType` and the name of every `CallStatus`.
    private static let own: Set = [
        "dns", "connection_refused", "connection_failed", "connection_reset", "timeout", "tls", "too_many_redirects",
        "invalid_request", "invalid_response", RequestOutcome.cancelledError, RequestOutcome.hungError,
        RequestDimensions.otherMethodOrError,
        "OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND", "ALREADY_EXISTS",
        "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION", "ABORTED", "OUT_OF_RANGE", "UNIMPLEMENTED",
        "INTERNAL", "UNAVAILABLE", "DATA_LOSS", "UNAUTHENTICATED",
    ]

    private var named: NameBudget<String>

    init(limit: Int = MartletLimits.errorTypes) {
        named = NameBudget(limit: limit)
    }

    mutating func admit(_ wanted: RequestDimensions, at now: UnixNanoseconds) -> RequestDimensions {
        guard let error = wanted.error, !Self.own.contains(error), error != wanted.status.map(String.init),
            !named.admit(error, at: now)
        else { return wanted }
        var dimensions = wanted
        dimensions.error = RequestDimensions.otherMethodOrError
        return dimensions
    }

    /// Forgets types that were not used lately. Call it now and then.
    mutating func forgetUnused(at now: UnixNanoseconds) { named.forgetUnused(at: now) }
}
