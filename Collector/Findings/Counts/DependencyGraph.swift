/// The rows and services that a row depends on. A client row depends on the server row at which its requests arrive. A server
/// row depends on all requests that its service makes, because counts do not say which of them it needs.
struct DependencyGraph {
    /// The table's version that the graph is of.
    private var version = -1
    /// The served row that a client row's requests arrive at.
    private var targets: [Int: Int] = [:]
    /// The client rows whose requests arrive at a served row.
    private var callers: [Int: [Int]] = [:]
    private var serviceOfHost: [String: String] = [:]
    /// The services that answered at each called host, with the minute in which they last did.
    private var callees: [String: [String: Minute]] = [:]
    /// What was already derived: each place's dependencies.
    private var known: [Place: Set<Place>] = [:]

    /// Takes the services that answered at called hosts in a minute. Two are enough of a host: then it says nothing about a request.
    mutating func learn(_ new: [String: Set<String>], in minute: Minute) {
        for (host, services) in new where callees[host] != nil || callees.count < FindingConstants.rows {
            for service in services { learn(service, at: host, in: minute) }
        }
        let oldest = minute - FindingConstants.keptMinutes
        for (host, services) in callees where services.values.contains(where: { $0 < oldest }) {
            callees[host] = services.filter { $0.value >= oldest }
            if callees[host]?.isEmpty == true { callees[host] = nil }
            version = -1
        }
    }

    private mutating func learn(_ service: String, at host: String, in minute: Minute) {
        let known = callees[host] ?? [:]
        guard known[service] != nil || known.count < 2 else { return }
        if known[service] == nil { version = -1 }
        callees[host, default: [:]][service] = minute
    }

    /// Derives the graph again if rows came or went.
    mutating func update(_ rows: RowTable) {
        guard version != rows.version else { return }
        (version, known, targets, callers, serviceOfHost) = (rows.version, [:], [:], [:], [:])
        serviceOfHost = callees.compactMapValues { $0.count == 1 ? $0.keys.first : nil }
        var (served, routes) = ([Arrival: Int](), [Route: Int]())
        for index in rows.watched where rows[index].row.kind == .server && !rows[index].row.isTotal {
            served[Arrival(rows[index].row)] = index
            routes[Route(rows[index].row, of: rows[index].row.service)] = index
            if let host = rows[index].row.host { serviceOfHost[host] = rows[index].row.service }
        }
        for index in rows.watched where rows[index].row.kind == .client {
            let row = rows[index].row
            let route = row.host.flatMap { serviceOfHost[$0] }.map { Route(row, of: $0) }
            guard let target = served[Arrival(row)] ?? route.flatMap({ routes[$0] }) else { continue }
            targets[index] = target
            callers[target, default: []].append(index)
        }
    }

    func target(of row: Int) -> Int? { targets[row] }

    func callers(of row: Int) -> [Int] { callers[row] ?? [] }

    /// Returns all that a place depends on, directly or not.
    mutating func below(_ place: Place, _ rows: RowTable) -> Set<Place> {
        if let below = known[place] { return below }
        let below = dependencies(of: place, rows)
        known[place] = below
        return below
    }

    private mutating func dependencies(of place: Place, _ rows: RowTable) -> Set<Place> {
        switch place {
        case .service(let service):
            return dependencies(ofAll: service, rows).subtracting([place])
        case .row(let index) where rows[index].row.isTotal:
            return dependencies(ofAll: rows[index].row.service, rows)
        case .row(let index):
            return withTotals(reached(from: index, rows), rows, except: rows[index].row.service)
        }
    }

    private mutating func dependencies(ofAll service: String, _ rows: RowTable) -> Set<Place> {
        let own = (rows.served[service] ?? []) + (rows.made[service] ?? [])
        return own.reduce(into: []) { $0.formUnion(below(.row($1), rows)) }
    }

    /// Adds, for each service, the row of all that it serves.
    private func withTotals(_ places: Set<Place>, _ rows: RowTable, except own: String) -> Set<Place> {
        places.reduce(into: places) { all, place in
            guard case .service(let service) = place, service != own, let total = rows.total(of: service) else {
                return
            }
            all.insert(.row(total))
        }
    }

    private func reached(from row: Int, _ rows: RowTable) -> Set<Place> {
        var (reached, next) = (Set<Place>(), [row])
        while let index = next.popLast() {
            let row = rows[index].row
            if let service = row.kind == .server ? row.service : row.host.flatMap({ serviceOfHost[$0] }) {
                reached.insert(.service(service))
            }
            let below = row.kind == .server ? rows.made[row.service] ?? [] : targets[index].map { [$0] } ?? []
            for index in below where reached.insert(.row(index)).inserted { next.append(index) }
        }
        return reached
    }
}

/// An endpoint of a service. Caller and server name the changing parts of a path differently.
private struct Route: Hashable {
    let service: String
    let method: String?
    let path: [Substring]

    init(_ row: FindingRow, of service: String) {
        (self.service, method) = (service, row.method)
        path = (row.endpoint ?? "").split(separator: "/").map { $0.hasPrefix("{") ? "{}" : $0 }
    }
}

/// The dimensions that a client row and its server row have in common.
private struct Arrival: Hashable {
    let host: String?
    let method: String?
    let endpoint: String?

    init(_ row: FindingRow) { (host, method, endpoint) = (row.host, row.method, row.endpoint) }
}
