import MartletStorage
import MartletTelemetry

/// The edges between services, made from each side's own counts.
///
/// A caller's host leads to the one service that served as this host. If none did, because a proxy stands between, observed
/// calls tell the service. If several did, the host is a place of its own: no count tells how its requests were shared out.
struct CallGraph: Sendable {
    private struct Side: Hashable {
        var service: String
        var host: String
    }

    /// The edges with the most requests first.
    private(set) var edges: [CallEdge] = []
    private var clients: [Side: CallFigures] = [:]
    private var servers: [Side: CallFigures] = [:]
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
    init(_ groups: [RequestGroup], _ calls: Set<ObservedCall>) {
        for group in groups where group.values.count == 4 {
            let side = Side(service: group.values[0] ?? "", host: group.values[2] ?? "")
            if group.values[1] == RequestKind.client.rawValue {
                clients[side, default: CallFigures()].add(group, error: group.values[3])
            } else {
                servers[side, default: CallFigures()].add(group, error: nil)
            }
        }
        clientsOfHost = Dictionary(grouping: clients.keys) { $0.host }
        serversOfHost = Dictionary(grouping: servers.keys) { $0.host }
        callsFrom = Dictionary(grouping: calls) { Side(service: $0.caller, host: $0.calledHost) }
        callsTo = Dictionary(grouping: calls) { Side(service: $0.callee, host: $0.servedHost) }
        for side in clients.keys { add(side) }
        addServed()
        edges.sort { one, other in
            one.count != other.count
                ? one.count > other.count : (one.from, one.to, one.host) < (other.from, other.to, other.host)
        }
    }

    private mutating func add(_ caller: Side) {
        var edge = CallEdge(
            from: .service(caller.service), to: .host(caller.host), host: caller.host, sent: clients[caller],
            servedHost: caller.host)
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
        edge.to = .service(callee.service)
        edge.servedHost = callee.host
        edge.arrived = servers[callee]
        edge.callers = callers.count
        edge.sentByAll = callers.reduce(0) { $0 &+ (clients[$1]?.count ?? 0) }
        used.insert(callee)
    }

    /// Takes the callee of observed calls, if they agree on one.
    private mutating func follow(_ calls: [ObservedCall], _ edge: inout CallEdge) {
        guard let first = calls.first, calls.allSatisfy({ $0.callee == first.callee }) else { return }
        edge.to = .service(first.callee)
        edge.isOfSpans = true
        let callee = Side(service: first.callee, host: first.servedHost)
        guard calls.count == 1, servers[callee] != nil else { return }
        let callers = (callsTo[callee] ?? []).map { Side(service: $0.caller, host: $0.calledHost) }
        reach(callee, from: callers, &edge)
    }

    /// Adds the requests that services got from callers without an agent, and from hosts that several services serve.
    private mutating func addServed() {
        for (side, figures) in servers where !used.contains(side) {
            let isShared = clientsOfHost[side.host] != nil && servers(of: side.host).count > 1
            edges.append(
                CallEdge(
                    from: isShared ? .host(side.host) : .outside, to: .service(side.service), host: side.host,
                    arrived: figures, servedHost: side.host))
        }
    }
}
