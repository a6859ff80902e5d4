import MartletStorage
import MartletTelemetry

/// The edges between services, made from each side's own counts.
///
/// A caller's host leads to the one service that served as this host. If none did, because a proxy stands between, observed
/// calls tell the service. If several did, the host is a place of its own: no count tells how its requests were shared out.
struct CallGraph {
    private struct Side: Hashable {
        var service: String
        var host: String
    }

    /// The share of the sent requests that may lie at the window's ends.
    private static let smallestGap = 0.005

    /// The edges with the most requests first.
    private(set) var edges: [CallEdge] = []
    private var clients: [Side: CallSum] = [:]
    private var servers: [Side: CallSum] = [:]
    private let seconds: Double
    private let clientsOfHost: [String: [Side]]
    private let serversOfHost: [String: [Side]]
    /// The observed calls by each of their ends.
    private let callsFrom: [Side: [ObservedCall]]
    private let callsTo: [Side: [ObservedCall]]
    /// Served sides that have an edge.
    private var used: Set<Side> = []

    /// - Parameters:
    ///   - groups: requests by service, kind, host and error.
    ///   - calls: the calls that spans showed.
    ///   - seconds: the length of the window.
    init(_ groups: [RequestGroup], _ calls: Set<ObservedCall>, seconds: Double) {
        self.seconds = seconds
        for group in groups where group.values.count == 4 {
            let side = Side(service: group.values[0] ?? "", host: group.values[2] ?? "")
            if group.values[1] == RequestKind.client.rawValue {
                clients[side, default: CallSum()].add(group, error: group.values[3])
            } else {
                servers[side, default: CallSum()].add(group, error: nil)
            }
        }
        clientsOfHost = Dictionary(grouping: clients.keys) { $0.host }
        serversOfHost = Dictionary(grouping: servers.keys) { $0.host }
        callsFrom = Dictionary(grouping: calls) { Side(service: $0.caller, host: $0.calledHost) }
        callsTo = Dictionary(grouping: calls) { Side(service: $0.callee, host: $0.servedHost) }
        for (side, sum) in clients { add(side, sum) }
        addServed()
        edges.sort { one, other in
            one.count != other.count
                ? one.count > other.count
                : (one.caller, one.callee, one.host) < (other.caller, other.callee, other.host)
        }
    }

    private mutating func add(_ caller: Side, _ sum: CallSum) {
        var edge = CallEdge(
            caller: .service(caller.service), callee: .host(caller.host), host: caller.host, servedHost: caller.host)
        edge.sent = CallFigures(sum.group, seconds: seconds)
        (edge.lost, edge.unanswered) = (sum.lost, sum.unanswered)
        edge.lostErrors = sum.errors.isEmpty ? nil : sum.errors.sorted()
        let serving = servers(of: caller.host)
        if let callee = serving.first, serving.count == 1 {
            reach(callee, from: clientsOfHost[caller.host] ?? [], &edge)
        } else if serving.isEmpty {
            follow(callsFrom[caller] ?? [], &edge)
        }
        edges.append(edge)
    }

    private func servers(of host: String) -> [Side] {
        // Hosts past the budget of names are many hosts with one name.
        host.isEmpty || host.hasPrefix(RequestDimensions.other) ? [] : serversOfHost[host] ?? []
    }

    private mutating func reach(_ callee: Side, from callers: [Side], _ edge: inout CallEdge) {
        guard let sum = servers[callee] else { return }
        edge.callee = .service(callee.service)
        edge.servedHost = callee.host
        edge.arrived = CallFigures(sum.group, seconds: seconds)
        edge.callers = callers.count
        edge.sentByAll = callers.reduce(0) { $0 &+ (clients[$1]?.group.count ?? 0) }
        if callers.count == 1 { edge.uncounted = uncounted(of: edge) }
        used.insert(callee)
    }

    private func uncounted(of edge: CallEdge) -> UInt64 {
        let sent = edge.count
        let known = [edge.arrived?.count, edge.lost, edge.unanswered].compactMap(\.self)
        let rest = known.reduce(sent) { $0 - min($0, $1) }
        return Double(rest) > Self.smallestGap * Double(sent) ? rest : 0
    }

    /// Takes the callee of observed calls, if they agree on one.
    private mutating func follow(_ calls: [ObservedCall], _ edge: inout CallEdge) {
        guard let first = calls.first, calls.allSatisfy({ $0.callee == first.callee }) else { return }
        edge.callee = .service(first.callee)
        edge.isOfSpans = true
        let callee = Side(service: first.callee, host: first.servedHost)
        guard calls.count == 1 else { return }
        reach(callee, from: (callsTo[callee] ?? []).map { Side(service: $0.caller, host: $0.calledHost) }, &edge)
    }

    /// Adds the requests that services got from callers without an agent, and from hosts that several services serve.
    private mutating func addServed() {
        for (side, sum) in servers where !used.contains(side) {
            let isShared = clientsOfHost[side.host] != nil && servers(of: side.host).count > 1
            var edge = CallEdge(
                caller: isShared ? .host(side.host) : .outside, callee: .service(side.service), host: side.host,
                servedHost: side.host)
            edge.arrived = CallFigures(sum.group, seconds: seconds)
            edges.append(edge)
        }
    }
}
