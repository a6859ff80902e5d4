import MartletStorage
import MartletTelemetry

/// The edges between services, made from each side's own counts.
///
/// A caller's host leads to the one service that served as this host. If none did, because a proxy stands between, observed
/// calls tell the service. If several did, the host is a place of its own: no count tells how its requests were shared out.
struct CallGraph {
    /// The service that a caller's host leads to.
    private struct Callee {
        var service: String
        /// The hosts as which it served, if it counted.
        var sides: Set<CallSide>
        var isOfSpans: Bool
    }

    /// The share of requests that may lie at the window's ends.
    private static let smallestGap = 0.005

    /// Edges with lost requests first, and then those with the most requests.
    private(set) var edges: [CallEdge] = []
    private var clients: [CallSide: CallSum] = [:]
    private var servers: [CallSide: CallSum] = [:]
    private let seconds: Double
    private let serversOfHost: [String: [CallSide]]
    /// The observed calls by their caller, and by the host that they called.
    private let callsFrom: [CallSide: [ObservedCall]]
    private let callsOfHost: [String: [ObservedCall]]

    /// - Parameters:
    ///   - groups: requests by service, kind, host and error.
    ///   - calls: the calls that spans showed.
    ///   - seconds: the length of the window.
    init(_ groups: [RequestGroup], _ calls: Set<ObservedCall>, seconds: Double) {
        self.seconds = seconds
        for group in groups where group.values.count == 4 {
            let side = CallSide(service: group.values[0] ?? "", host: group.values[2] ?? "")
            if group.values[1] == RequestKind.client.rawValue {
                clients[side, default: CallSum()].add(group, error: group.values[3])
            } else {
                servers[side, default: CallSum()].add(group, error: nil)
            }
        }
        serversOfHost = Dictionary(grouping: servers.keys) { $0.host }
        callsFrom = Dictionary(grouping: calls) { CallSide(service: $0.caller, host: $0.calledHost) }
        callsOfHost = Dictionary(grouping: calls) { $0.calledHost }
        let callees = Dictionary(
            uniqueKeysWithValues: clients.keys.compactMap { side in callee(of: side).map { (side, $0) } })
        let shares = CallShares(callees.mapValues(\.sides))
        for (side, sum) in clients { add(side, sum, callees[side], shares) }
        addServed(besides: shares)
        edges.sort { one, other in
            let (first, second) = (one.lost ?? 0, other.lost ?? 0)
            if first != second { return first > second }
            return one.count != other.count
                ? one.count > other.count
                : (one.caller, one.callee, one.host) < (other.caller, other.callee, other.host)
        }
    }

    private func callee(of caller: CallSide) -> Callee? {
        let serving = servers(of: caller.host)
        if let side = serving.first {
            return serving.count == 1 ? Callee(service: side.service, sides: [side], isOfSpans: false) : nil
        }
        // Observed calls tell the callee if they agree on one.
        let services = Set((callsFrom[caller] ?? []).map(\.callee))
        guard let service = services.first, services.count == 1 else { return nil }
        let sides = (callsOfHost[caller.host] ?? []).filter { $0.callee == service }
            .map { CallSide(service: service, host: $0.servedHost) }
        return Callee(service: service, sides: Set(sides).filter { servers[$0] != nil }, isOfSpans: true)
    }

    private func servers(of host: String) -> [CallSide] {
        // Hosts past the budget of names are many hosts with one name.
        host.isEmpty || host.hasPrefix(RequestDimensions.other) ? [] : serversOfHost[host] ?? []
    }

    private mutating func add(_ caller: CallSide, _ sum: CallSum, _ callee: Callee?, _ shares: CallShares) {
        var edge = CallEdge(
            caller: .service(caller.service), callee: .host(caller.host), host: caller.host,
            servedHosts: [caller.host])
        edge.sent = CallFigures(sum.group, seconds: seconds)
        (edge.lost, edge.unanswered) = (sum.lost, sum.unanswered)
        edge.lostErrors = sum.errors.isEmpty ? nil : sum.errors.sorted()
        if let callee {
            (edge.callee, edge.isOfSpans) = (.service(callee.service), callee.isOfSpans)
            if let share = callee.sides.first.flatMap(shares.share) { reach(callee, share, &edge) }
        }
        edges.append(edge)
    }

    private func reach(_ callee: Callee, _ share: CallShares.Share, _ edge: inout CallEdge) {
        let arrived = share.sides.compactMap { servers[$0]?.group }
            .reduce(into: RequestGroup(values: [])) { $0.merge($1) }
        let sums = share.callers.compactMap { clients[$0] }
        let (sent, lost) = (sums.reduce(0) { $0 &+ $1.group.count }, sums.reduce(0) { $0 &+ $1.lost })
        edge.servedHosts = callee.sides.map(\.host).sorted()
        edge.arrived = CallFigures(arrived, seconds: seconds)
        (edge.sharedBy, edge.sentByAll) = (share.callers.count, sent)
        edge.fromOutside = Self.gap(arrived.count, without: [sent - min(sent, lost)])
        // Of requests that are known from spans alone, many are missing.
        guard share.callers.count == 1, arrived.fromSpans == 0 else { return }
        edge.uncounted = Self.gap(edge.count, without: [arrived.count, lost, edge.unanswered ?? 0])
    }

    /// Returns a count less others; 0 if so few are left that they may lie at the window's ends.
    private static func gap(_ count: UInt64, without others: [UInt64]) -> UInt64 {
        let rest = others.reduce(count) { $0 - min($0, $1) }
        return Double(rest) > smallestGap * Double(count) ? rest : 0
    }

    /// Adds the requests that services got from callers without an agent, and from hosts that several services serve.
    private mutating func addServed(besides shares: CallShares) {
        let called = Set(clients.keys.map(\.host))
        for (side, sum) in servers where shares.share(of: side) == nil {
            let isShared = called.contains(side.host) && servers(of: side.host).count > 1
            var edge = CallEdge(
                caller: isShared ? .host(side.host) : .outside, callee: .service(side.service), host: side.host,
                servedHosts: [side.host])
            edge.arrived = CallFigures(sum.group, seconds: seconds)
            edges.append(edge)
        }
    }
}
