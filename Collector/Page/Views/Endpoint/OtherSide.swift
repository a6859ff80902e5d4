import MartletReports
import MartletStorage

/// The services at the other end of an endpoint's requests, as they counted the same requests.
struct OtherSide: Sendable {
    /// Observed calls that are looked at for the services behind a called host.
    private static let maxCalls = 5000
    /// Hosts of an address at most: the values that one parameter may have.
    private static let maxHosts = 16

    /// The requests by service and version; `nil` if no endpoint is selected.
    let answer: StatisticsAnswer?
    /// The hosts as which the other side counts the requests: `nil` if as the same one, none if as too many to select them.
    let hosts: Set<String>?

    /// The services, by name.
    var services: [String] { Set((answer?.groups ?? []).compactMap { $0.values[0] }).sorted() }

    /// Takes the services that count requests of the same host. If there are none, because a server does not know as which host it is
    /// called or a proxy stands between, it asks for those that spans showed behind the host.
    ///
    /// - Parameter answer: to ``EndpointQuestions/peers``.
    init(
        _ answer: StatisticsAnswer?, _ questions: EndpointQuestions, _ callers: Set<String>?, in storage: some Storage
    ) async throws {
        guard let answer, answer.groups.isEmpty, var query = questions.peers, query.filter.wanted[.host] != nil else {
            (self.answer, hosts) = (answer, nil)
            return
        }
        let calls = try await storage.calls(in: query.window, questions.environment, limit: Self.maxCalls).filter {
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

    /// Returns the address of the same requests as the other side counts them.
    ///
    /// - Parameter address: of the side that is shown.
    func address(_ address: PageAddress) -> PageAddress {
        guard let hosts else { return address }
        return hosts.sorted().reduce(address.with(.host, nil)) { $0.adding(.host, $1) }
    }
}
