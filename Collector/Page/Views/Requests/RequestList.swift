import MartletReports
import MartletStorage
import MartletTelemetry

/// The kept requests that a person looks for, a page at a time.
package struct RequestList: Sendable {
    /// Requests of a page, unless the address says otherwise.
    static let pageSize = 50
    /// Choices of a list at most.
    private static let maxChoices = 200

    /// The live tail: on or not.
    private enum Live: String, CaseIterable { case on }

    let visit: Visit
    let facts: PageFacts
    /// The parameters of the list, for a command and for the API.
    let parameters: RequestsParameters
    let order: RequestsQuery.Order
    let report: RequestsReport
    /// `nil` if the list has conditions that the counts do not know.
    let counted: CountedRequests?
    let filters: [RequestListFilter]
    let methods: [String]
    let hosts: [String]
    /// The chosen method and host, if no request has them.
    private(set) var unseen: [PageParameter: EmptyAnswer.Names] = [:]
    /// Whether new requests appear at the top by themselves.
    let isLive: Bool
    /// The end of the latest interval before the window with requests of the chosen dimensions (``LatestRequest``); `nil` if there is
    /// none, if the window has some, or in a live tail.
    private(set) var latestRequest: UnixNanoseconds?
    /// The conditions of an empty list; none of a list with requests.
    private(set) var trials: [RequestListTrial] = []

    /// - Throws: ``ParameterError``, ``UnknownRequest``, ``TooManyGroups``, or the store's error.
    package init(_ visit: Visit, in storage: some Storage) async throws {
        self.visit = visit
        parameters = Self.parameters(of: visit)
        let query = try parameters.query(now: visit.now)
        let live: Live? = try visit.parameters.choice(.live)
        order = query.order
        isLive = live == .on && visit.isLive && query.before == nil && query.order == RequestsQuery.Order()
        filters = RequestListFilter.all(in: visit.parameters)
        facts = try await PageFacts(visit, in: storage)
        report = RequestsReport(try await storage.requests(query), for: query)
        counted = try await CountedRequests.load(visit, in: storage)
        methods = try await Self.choices(.method, visit, in: storage)
        hosts = try await Self.choices(.host, visit, in: storage)
        for (name, seen) in [(PageParameter.method, methods), (.host, hosts)] {
            unseen[name] = try await EmptyState.unknown(name, notIn: seen, visit, in: storage)
        }
        // A live tail looks every two seconds, which a look at a week would cost too much.
        if report.count == 0, counted?.all == 0, !isLive {
            latestRequest = try await visit.latestRequest(visit.wanted, before: visit.window, in: storage)
        }
        if report.count == 0 { trials = try await RequestListTrial.all(filters, visit, in: storage) }
    }

    private static func parameters(of visit: Visit) -> RequestsParameters {
        var parameters = visit.parameters(for: RequestsParameter.self)
        if parameters[.limit] == nil { parameters.add(.limit, String(pageSize)) }
        return parameters
    }

    /// Returns the values that requests of the same senders have.
    private static func choices(
        _ dimension: Dimension, _ visit: Visit, in storage: some Storage
    ) async throws -> [String] {
        var filter = visit.filter
        for other in Dimension.allCases where !other.isOfSender { filter.removeAll(other) }
        return try await storage.values(
            ValuesQuery(dimension, window: visit.window, filter: filter, limit: maxChoices)
        ).values
    }
}
