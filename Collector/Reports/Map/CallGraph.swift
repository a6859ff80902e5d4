import MartletStorage
import MartletTelemetry

/// The edges between services, built from the counts of each side.
///
/// A caller's host leads to the one service that served under this host. If no service did, because there is a proxy between them,
/// observed calls identify the service. If several did, the host becomes a place on the map, because no count shows how its
/// requests were distributed. A database or a message broker is a place too, one for each system that is called under a host.
struct CallGraph {
    /// The service that a caller's host leads to.
    private struct Callee {
        var service: String
        /// The hosts under which the service served; empty if it counted no requests.
        var sides: Set<CallSide>
        var comesFromSpans: Bool
    }

    /// The requests of served sides that are counted together.
    private struct Reached {
        var arrived: CallFigures
        var areOfSpans: Bool
        var callers: Int
        var sentByAll: UInt64
        var fromOutside: UInt64
    }

    /// The dimensions of the groups.
    static let dimensions: [Dimension] = [.service, .kind, .host, .error, .system]
    /// The share of requests up to which a gap may be an effect of the window's ends.
    private static let smallestGap = 0.005

    /// The edges, those with lost requests first, then by number of requests.
    private(set) var edges: [CallEdge] = []
    private var clients: [CallSide: CallSum] = [:]
    private var servers: [CallSide: CallSum] = [:]
    private let seconds: Double
    private let serversOfHost: [String: [CallSide]]
    /// The places for the hosts that several services serve, by the served side.
    private var sharedPlaces: [CallSide: MapPlace] = [:]
    /// The callees of observed calls by caller, and the served sides by callee and called host.
    private let calleesOf: [ServiceHost: Set<String>]
    private let sidesBehind: [ServiceHost: Set<ServiceHost>]
    private var shares = CallShares([:])
    /// The requests of each share, by its index.
    private var reached: [Reached] = []

    /// - Parameters:
    ///   - groups: requests by ``dimensions``.
    ///   - calls: the calls that spans showed.
    ///   - seconds: the length of the window.
    init(_ groups: [RequestGroup], _ calls: Set<ObservedCall>, seconds: Double) {
        self.seconds = seconds
        for group in groups where group.values.count == Self.dimensions.count {
            let side = CallSide(
                at: ServiceHost(service: group.values[0] ?? "", host: group.values[2] ?? ""), system: group.values[4])
            if group.values[1] == RequestKind.client.rawValue {
                clients[side, default: CallSum()].add(group, error: group.values[3])
            } else {
                servers[side, default: CallSum()].add(group, error: nil)
            }
        }
        serversOfHost = Dictionary(grouping: servers.keys) { $0.host }
        calleesOf = Dictionary(
            calls.map { (ServiceHost(service: $0.caller, host: $0.calledHost), [$0.callee]) },
            uniquingKeysWith: { $0.union($1) })
        sidesBehind = Dictionary(
            calls.map {
                (
                    ServiceHost(service: $0.callee, host: $0.calledHost),
                    [ServiceHost(service: $0.callee, host: $0.servedHost)]
                )
            }, uniquingKeysWith: { $0.union($1) })
        let callees = Dictionary(
            uniqueKeysWithValues: clients.keys.compactMap { side in callee(of: side).map { (side, $0) } })
        shares = CallShares(callees.mapValues(\.sides))
        reached = shares.all.map(requests)
        sharedPlaces = placesOfSharedHosts()
        for (side, sum) in clients { add(side, sum, callees[side]) }
        addServed()
        edges.sort { one, other in
            let (first, second) = (one.lost ?? 0, other.lost ?? 0)
            if first != second { return first > second }
            return one.count != other.count
                ? one.count > other.count
                : (one.caller, one.callee, one.host, one.system ?? "")
                    < (other.caller, other.callee, other.host, other.system ?? "")
        }
    }

    private func callee(of caller: CallSide) -> Callee? {
        let serving = servers(of: caller)
        if let side = serving.first {
            let isOne = serving.allSatisfy { $0.service == side.service }
            return isOne ? Callee(service: side.service, sides: Set(serving), comesFromSpans: false) : nil
        }
        // Observed calls identify the callee if they agree on one.
        guard let services = calleesOf[caller.at], let service = services.first, services.count == 1 else { return nil }
        let behind = sidesBehind[ServiceHost(service: service, host: caller.host)] ?? []
        let sides = behind.flatMap { served in
            Self.answering(caller, among: (serversOfHost[served.host] ?? []).filter { $0.service == service })
        }
        return Callee(service: service, sides: Set(sides), comesFromSpans: true)
    }

    private func servers(of caller: CallSide) -> [CallSide] {
        // Hosts beyond the limit on names share one name, which does not lead to a single host.
        let host = caller.host
        guard !host.isEmpty, !host.hasPrefix(RequestDimensions.other) else { return [] }
        return Self.answering(caller, among: serversOfHost[host] ?? [])
    }

    /// Returns the sides that may have answered a caller: those of its system. If there are none, one end may have counted remote
    /// procedure calls as HTTP.
    private static func answering(_ caller: CallSide, among sides: [CallSide]) -> [CallSide] {
        let same = sides.filter { $0.system == caller.system }
        return same.isEmpty ? sides.filter { $0.system == nil || caller.system == nil } : same
    }

    private mutating func add(_ caller: CallSide, _ sum: CallSum, _ callee: Callee?) {
        var edge = CallEdge(
            caller: .service(caller.service), callee: caller.place, host: caller.host, servedHosts: [caller.host],
            system: caller.system)
        edge.sent = CallFigures(sum.group, seconds: seconds)
        (edge.lost, edge.unanswered) = (sum.lost, sum.unanswered)
        edge.lostErrors = sum.errors.isEmpty ? nil : sum.errors.sorted()
        if let callee {
            (edge.callee, edge.comesFromSpans) = (.service(callee.service), callee.comesFromSpans)
            if let share = callee.sides.first.flatMap(shares.index) { reach(callee, reached[share], &edge) }
        }
        edges.append(edge)
    }

    private func requests(of share: CallShares.Share) -> Reached {
        let arrived = share.sides.compactMap { servers[$0]?.group }
            .reduce(into: RequestGroup(values: [])) { $0.merge($1) }
        let sums = share.callers.compactMap { clients[$0] }
        let (sent, lost) = (sums.reduce(0) { $0 &+ $1.group.count }, sums.reduce(0) { $0 &+ $1.lost })
        return Reached(
            arrived: CallFigures(arrived, seconds: seconds), areOfSpans: arrived.fromSpans > 0,
            callers: share.callers.count, sentByAll: sent,
            fromOutside: Self.gap(arrived.count, without: [sent - min(sent, lost)]))
    }

    private func reach(_ callee: Callee, _ reached: Reached, _ edge: inout CallEdge) {
        edge.servedHosts = Set(callee.sides.map(\.host)).sorted()
        edge.arrived = reached.arrived
        (edge.sharedBy, edge.sentByAll) = (reached.callers, reached.sentByAll)
        edge.fromOutside = reached.fromOutside
        // Sampled spans miss requests.
        guard reached.callers == 1, !reached.areOfSpans else { return }
        edge.uncounted = Self.gap(
            edge.count, without: [reached.arrived.count, edge.lost ?? 0, edge.unanswered ?? 0])
    }

    /// Subtracts counts from a count. Returns 0 if the rest is small enough to be an effect of the window's ends.
    private static func gap(_ count: UInt64, without others: [UInt64]) -> UInt64 {
        let rest = others.reduce(count) { $0 - min($0, $1) }
        return Double(rest) > smallestGap * Double(count) ? rest : 0
    }

    /// Returns the places for the called hosts that several services serve, by the served side.
    private func placesOfSharedHosts() -> [CallSide: MapPlace] {
        var places: [CallSide: MapPlace] = [:]
        for caller in clients.keys {
            let serving = servers(of: caller)
            guard Set(serving.map(\.service)).count > 1 else { continue }
            for side in serving { places[side] = min(places[side] ?? caller.place, caller.place) }
        }
        return places
    }

    /// Adds the requests that services got from callers without an agent, and from hosts that several services serve.
    private mutating func addServed() {
        for (side, sum) in servers where shares.index(of: side) == nil {
            var edge = CallEdge(
                caller: sharedPlaces[side] ?? .outside, callee: .service(side.service), host: side.host,
                servedHosts: [side.host], system: side.system)
            edge.arrived = CallFigures(sum.group, seconds: seconds)
            edges.append(edge)
        }
    }
}

/// A service and a host that it called, or under which it served.
struct ServiceHost: Hashable {
    var service: String
    var host: String
}

/// The requests that a service sent to a host, or served under it, for one system.
struct CallSide: Hashable {
    var at: ServiceHost
    /// `nil` for HTTP.
    var system: String?

    var service: String { at.service }
    var host: String { at.host }
    /// The host as a place on the map.
    var place: MapPlace { .host(host, system: system) }
}

/// The served sides whose requests are counted together, and their callers. A side counts all of its callers together, and a
/// caller may reach several sides through one host.
struct CallShares {
    struct Share {
        var sides: Set<CallSide> = []
        var callers: Set<CallSide> = []
    }

    /// Each share once. A share that was merged into another is empty.
    private(set) var all: [Share] = []
    private var indexOfSide: [CallSide: Int] = [:]

    /// - Parameter served: the sides that each caller reaches.
    init(_ served: [CallSide: Set<CallSide>]) {
        for (caller, sides) in served where !sides.isEmpty { add(caller, sides) }
    }

    /// Returns the index of a side's share; `nil` if no known caller reaches the side.
    func index(of side: CallSide) -> Int? { indexOfSide[side] }

    private mutating func add(_ caller: CallSide, _ sides: Set<CallSide>) {
        let known = Set(sides.compactMap { indexOfSide[$0] })
        // The largest share absorbs the others, so that thousands of callers of a host are not copied for each.
        let target = known.max { all[$0].sides.count < all[$1].sides.count } ?? all.count
        if target == all.count { all.append(Share()) }
        all[target].callers.insert(caller)
        insert(sides, into: target)
        for index in known where index != target {
            let share = all[index]
            all[index] = Share()
            all[target].callers.formUnion(share.callers)
            insert(share.sides, into: target)
        }
    }

    private mutating func insert(_ sides: Set<CallSide>, into target: Int) {
        for side in sides where indexOfSide[side] != target {
            indexOfSide[side] = target
            all[target].sides.insert(side)
        }
    }
}

/// The sum of the requests that one service sent to one host, or served under one host.
struct CallSum {
    /// The errors of requests that never reached a server, because the connection failed.
    private static let unreached: Set = ["dns", "connection_refused", "connection_failed", "invalid_request"]

    private(set) var group = RequestGroup(values: [])
    /// Requests that certainly reached no server.
    private(set) var lost: UInt64 = 0
    /// The errors of the lost requests.
    private(set) var errors: Set<String> = []

    mutating func add(_ group: RequestGroup, error: String?) {
        self.group.merge(group)
        guard let error, Self.unreached.contains(error) else { return }
        // A request with an error status got a response, whatever its error is called.
        lost &+= min(group.count, group.outcomes[.transportFailure])
        errors.insert(error)
    }

    /// Requests without a response that may have reached a server: they were reset, timed out, hung or were cancelled.
    var unanswered: UInt64 {
        let all = group.outcomes[.transportFailure] &+ group.outcomes[.hung] &+ group.outcomes[.cancelled]
        return all > lost ? all - lost : 0
    }
}
