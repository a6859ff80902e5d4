import MartletReports
import MartletStorage
import MartletTelemetry

/// The questions to the store whose answers make the overview. They are asked together, because all are about the same requests.
struct OverviewQuestions {
    /// Rows of the table of endpoints, unless the address asks for more.
    static let maxEndpoints = 50
    /// Slots of each line at most. An hour has as many slots of summaries (``SummarySlot``).
    private static let slots: UInt64 = 20

    /// The side whose endpoints are listed.
    let kind: RequestKind
    /// The parameters of the table of endpoints.
    private let parameters: ReportParameters
    /// The services, in the same window as the endpoints.
    let senders: StatisticsQuery
    let hosts: StatisticsQuery
    let report: ReportQuestion
    private let query: StatisticsQuery

    init(_ visit: Visit, _ kind: RequestKind) throws {
        self.kind = kind
        senders = try Self.query(visit, nil, [.service, .kind], isInSlots: true)
        hosts = try Self.query(visit, .client, [.host, .service], isInSlots: false)
        parameters = visit.report(of: kind, by: [.service, .method, .host, .endpoint], leavingOut: [])
        var query = try parameters.query(now: visit.now)
        query.limit = query.limit ?? Self.maxEndpoints
        query.step = TrendStep.fitting(visit.window, slots: Self.slots)
        self.query = query
        report = ReportQuestion(query, comparedWith: try parameters.comparison(of: query))
    }

    /// All questions, the report's first.
    var all: [StatisticsQuery] { report.queries + [senders, hosts] }

    struct Rows: Sendable {
        var report: Report
        /// Whether there are too many endpoints to compare them.
        var isTooMuchToCompare: Bool
    }

    /// Returns the table of endpoints, as far as the store can make it.
    ///
    /// - Parameter answers: those to the queries of ``report``.
    func rows(of answers: [ReportQuestion.Answer], in storage: some Storage) async throws -> Rows {
        do {
            return Rows(report: try await report.report(of: answers, in: storage), isTooMuchToCompare: false)
        } catch is TooManyGroups {
            var plain = query
            plain.step = nil
            return Rows(report: try await storage.report(plain), isTooMuchToCompare: report.queries.count > 1)
        }
    }

    /// Returns the parameters with which a command and the API have the same rows and verdicts. They name the default number of rows if
    /// it may have left some out, now or in the other window, because a report without a number has all rows, and judges all of them
    /// together.
    func parameters(of report: Report) -> ReportParameters {
        var parameters = parameters
        let before = report.rows.count { $0.before != nil } + (report.compare?.goneCount ?? 0)
        if parameters[.top] == nil, report.rowCount > Self.maxEndpoints || before >= Self.maxEndpoints {
            parameters.add(.top, String(Self.maxEndpoints))
        }
        return parameters
    }

    /// Returns a query in the window of the report, of one kind or of both.
    private static func query(
        _ visit: Visit, _ kind: RequestKind?, _ dimensions: [Dimension], isInSlots: Bool
    ) throws -> StatisticsQuery {
        var filter = visit.filter
        filter.removeAll(.kind)
        if let kind { filter.select(.kind, kind.rawValue) }
        var query = StatisticsQuery(
            window: visit.window, filter: filter, by: dimensions,
            step: isInSlots ? TrendStep.fitting(visit.window, slots: slots) : nil)
        query.slotScale = TrendStep.scale
        return try visit.comparison.map { try ComparisonBase($0).query(after: query) } ?? query
    }
}

extension Visit {
    /// Returns the parameters of a report about the overview's requests, in the window that its comparison asks for.
    ///
    /// - Parameters:
    ///   - kind: the side of the requests; `nil` for both.
    ///   - names: the parameters that the report does not take over.
    func report(
        of kind: RequestKind?, by dimensions: [Dimension],
        leavingOut names: Set<PageParameter> = [.sort, .ascending, .top]
    ) -> ReportParameters {
        var parameters = parameters(for: ReportParameter.self, leavingOut: names.union([.kind, .compare]))
        parameters.add(.kind, kind?.rawValue)
        parameters.add(.compare, comparison)
        for dimension in dimensions { parameters.add(.by, dimension.rawValue) }
        return parameters
    }
}
