import MartletReports
import MartletStorage
import MartletTelemetry

/// The queries for the view of an endpoint.
struct EndpointQueries {
    /// The requests of the selection, of one kind.
    let filter: RequestFilter
    /// Only the environment. It selects agents.
    let environment: RequestFilter
    /// The same requests as the other side counted them; `nil` unless the endpoint is known.
    private let peerFilter: RequestFilter?
    /// The requests of the selection, of either kind.
    private let selection: RequestFilter
    private let window: TimeWindow
    /// The comparison that says which window is the one before.
    private let base: ComparisonBase

    /// The queries that are asked together: ``before``, ``failures``, ``senders``, and ``peers`` if the endpoint is known.
    var all: [StatisticsQuery] { [before, failures, senders] + [peers].compactMap(\.self) }

    /// - Throws: ``ParameterError`` if the request's comparison is not valid.
    init(pageRequest: PageRequest, kind: RequestKind, window: TimeWindow) throws {
        func only(_ dimensions: [Dimension]) -> RequestFilter {
            RequestFilter(pageRequest.filter.wanted.filter { dimensions.contains($0.key) })
        }
        var filter = pageRequest.filter
        filter.removeAll(.kind)
        filter.select(.kind, kind.rawValue)
        self.filter = filter
        selection = pageRequest.filter
        self.window = window
        base = try pageRequest.baseOfWindow(window)
        environment = only([.environment])
        var peers = only([.environment, .method, .host, .endpoint])
        peers.select(.kind, (kind == .client ? RequestKind.server : .client).rawValue)
        peerFilter = pageRequest.filter.wanted[.endpoint] == nil ? nil : peers
    }

    /// The requests of either kind over time.
    var overTime: StatisticsQuery {
        StatisticsQuery(
            window: window, filter: selection, by: [.kind], step: TrendStep.fitting(window, slots: Endpoint.slots))
    }

    /// The previous window, with the kinds of its failures.
    var before: StatisticsQuery {
        let query = StatisticsQuery(window: window, filter: filter, by: [.status, .error])
        return base.query(before: query, answeredFor: window)
    }

    var windowBefore: WindowName { WindowName(before: window, base) }

    /// Returns the answer to ``before``; `nil` if the store's older figures are so coarse that the answer covers a longer time.
    func comparable(_ answer: StatisticsAnswer) -> StatisticsAnswer? {
        answer.window.seconds <= window.seconds * 1.05 ? answer : nil
    }

    /// The kinds of failures over time, the most frequent first.
    private var failures: StatisticsQuery {
        StatisticsQuery(
            window: window, filter: filter, by: [.status, .error], order: GroupOrder(.failures),
            limit: Endpoint.maxFailures, step: TrendStep.fitting(window, slots: Endpoint.slotsOfTimes(in: window)))
    }

    /// The processes that counted the requests.
    private var senders: StatisticsQuery {
        StatisticsQuery(window: window, filter: filter, by: [.service, .version, .instance])
    }

    /// Returns the query for what carries the failures of the window; `nil` if there are too few.
    func carriersOfFailures(_ failed: UInt64) -> ChangeCarriersQuery? {
        failed >= FailureTrait.fewest ? ChangeCarriersQuery(.failed, in: window, before: nil, filter) : nil
    }

    /// The services at the other end, if they count requests too.
    var peers: StatisticsQuery? {
        peerFilter.map { StatisticsQuery(window: window, filter: $0, by: [.service, .version]) }
    }

    /// The kept requests of the window.
    var kept: RequestsQuery { RequestsQuery(window: window, filter: filter, limit: EndpointExamples.count) }
}

extension PageRequest {
    /// Returns what the window is compared with: the window in the address, if the address names one that is not shorter;
    /// otherwise the window before.
    fileprivate func baseOfWindow(_ window: TimeWindow) throws -> ComparisonBase {
        guard case .earlier(let length)? = try comparison.map({ try ComparisonBase($0) }),
            length >= window.length
        else { return .previous }
        return .earlier(length)
    }
}

/// The words for the window that another one is compared with.
struct WindowName: Sendable {
    /// `hour before`, `15 min before`, `hour a day earlier`.
    let text: String

    init(before window: TimeWindow, _ base: ComparisonBase) {
        text = ComparisonBaseText.window(seconds: UInt64(window.seconds.rounded()), base)
    }

    /// The same words as the title of a column.
    var title: String { text.capitalizedFirst }
}

/// The services at the other end of an endpoint's requests, with their counts of the same requests.
struct OtherSide: Sendable {
    /// The maximum number of observed calls to search for the services behind a called host.
    static let maxCalls = 5000
    /// The maximum number of hosts in an address, which is that of the values of one parameter.
    private static let maxHosts = 16

    /// The requests by service and version; `nil` if no endpoint is selected.
    let answer: StatisticsAnswer?
    /// The hosts under which the other side counts the requests. `nil` if both sides use the same host; empty if there are too
    /// many hosts to select.
    let hosts: Set<String>?

    /// The services, by name.
    var services: [String] { Set((answer?.groups ?? []).compactMap { $0.values[0] }).sorted() }

    /// Uses the services that count requests for the same host. If there are none, queries the services that spans showed
    /// behind the host: a server may not know the host that was called, or a proxy may be between the two sides.
    ///
    /// - Parameter answer: the answer to ``EndpointQueries/peers``.
    init(
        _ answer: StatisticsAnswer?, _ queries: EndpointQueries, _ callers: Set<String>?, in storage: some Storage
    ) async throws {
        guard let answer, answer.groups.isEmpty, var query = queries.peers, query.filter.wanted[.host] != nil else {
            (self.answer, hosts) = (answer, nil)
            return
        }
        let calls = try await storage.calls(in: query.window, queries.environment, limit: Self.maxCalls).filter {
            callers?.contains($0.caller) ?? true && query.filter.matches(host: $0.calledHost)
        }
        guard !calls.isEmpty else {
            (self.answer, hosts) = (answer, nil)
            return
        }
        let served = Set(calls.map(\.servedHost))
        let hosts = served.count > Self.maxHosts ? [] : served
        query.filter.removeAll(.host)
        for call in calls { query.filter.select(.service, call.callee) }
        for host in hosts { query.filter.select(.host, host) }
        (self.answer, self.hosts) = (try await storage.statistics(query), hosts)
    }

    /// Returns the address of the same requests as the other side counts them: of remote procedure calls, maybe as HTTP.
    ///
    /// - Parameter address: the address on the side that is shown.
    func address(_ address: PageAddress) -> PageAddress {
        let address = address.with(.system, nil)
        guard let hosts else { return address }
        return hosts.sorted().reduce(address.with(.host, nil)) { $0.adding(.host, $1) }
    }
}
