import MartletStorage
import MartletTelemetry

/// The requests that make a change for the worse.
package enum AffectedRequests: Sendable, Equatable {
    case failed
    /// Requests that took longer than this many seconds.
    case slower(Double)

    /// Returns `nil` for a row that is not worse. If failures rose, those are meant; otherwise the requests above the highest quantile
    /// that rose, as it was before.
    package init?(_ verdict: Verdict) {
        guard case .worse(let changes) = verdict else { return nil }
        if let failures = changes.failures, failures.after > failures.before {
            self = .failed
        } else if let quantile = [changes.p99, changes.p95, changes.p50].lazy.compactMap({ $0 })
            .first(where: { $0.after > $0.before })
        {
            self = .slower(quantile.before / 1000)
        } else {
            return nil
        }
    }

    func count(in group: RequestGroup) -> ChangeCarriers.Count {
        switch self {
        case .failed: return .init(requests: group.count, affected: group.failedCount)
        case .slower(let seconds):
            let upTo = [group.succeeded, group.failed].reduce(0) { $0 + $1.duration.countOfValues(upTo: seconds) }
            return .init(requests: group.count, affected: group.count - min(upTo, group.count))
        }
    }
}

/// The queries for ``ChangeCarriers``.
package struct ChangeCarriersQuery: Sendable {
    /// Dimensions in which all of the requests are equal name nobody, so a query has all of them.
    private static let by: [Dimension] = [.service, .kind, .version, .instance, .host, .endpoint]
    /// The most slots of the changed part, plus one.
    private static let slots: UInt64 = 20
    /// The most rows of a report whose carriers are searched.
    static let maxRows = 5

    private let affected: AffectedRequests
    private let changed: StatisticsQuery
    private let before: StatisticsQuery?

    /// - Parameters:
    ///   - part: the time in which the requests are affected.
    ///   - before: a time in which they are not yet; `nil` if there is none.
    ///   - filter: the requests.
    package init(
        _ affected: AffectedRequests, in part: TimeWindow, before: TimeWindow?, _ filter: RequestFilter
    ) {
        func query(_ window: TimeWindow) -> StatisticsQuery {
            var query = StatisticsQuery(window: window, filter: filter, by: Self.by)
            query.slotScale = TrendStep.scale
            return query
        }
        self.affected = affected
        var changed = query(part)
        changed.step = TrendStep.fitting(part, slots: Self.slots)
        self.changed = changed
        self.before = before.map(query)
    }

    package var queries: [StatisticsQuery] { [changed] + (before.map { [$0] } ?? []) }

    /// Returns `nil` if there are too many groups to search, or only one: then nobody else could be better.
    ///
    /// - Parameter answers: the answers to ``queries``.
    package func carriers(_ answers: [Result<StatisticsAnswer, TooManyGroups>]) -> ChangeCarriers? {
        guard let changed = try? answers.first?.get(), let slots = changed.slots, changed.groups.count > 1 else {
            return nil
        }
        let earlier = answers.dropFirst().first.flatMap { try? $0.get() }
        // Without the instances of some requests, nobody knows what each of the others carries.
        let hasInstances = changed.sendersSince == nil && earlier?.sendersSince == nil
        var (cells, order) = ([[String?]: (slots: [RequestGroup], before: RequestGroup)](), [[String?]]())
        for (group, slots) in zip(changed.groups, slots.groups) {
            let values = Self.named(group.values, hasInstances)
            if cells[values] == nil { order.append(values) }
            let known = cells[values] ?? (slots.map { RequestGroup(values: $0.values) }, RequestGroup(values: values))
            cells[values] = (zip(known.slots, slots).map(Self.sum), known.before)
        }
        for group in earlier?.groups ?? [] { cells[Self.named(group.values, hasInstances)]?.before.merge(group) }
        let services = Set(order.map { $0[0] })
        return ChangeCarriers(
            order.compactMap { values in
                cells[values].map { cell in
                    ChangeCarriers.Cell(
                        Self.values(values, hasOneService: services.count == 1), slots: cell.slots.map(affected.count),
                        before: affected.count(in: cell.before))
                }
            })
    }

    /// Returns the values of a group, without the instance unless those of all requests are known.
    private static func named(_ values: [String?], _ hasInstances: Bool) -> [String?] {
        hasInstances ? values : zip(by, values).map { $0 == .instance ? nil : $1 }
    }

    private static func sum(_ one: RequestGroup, _ other: RequestGroup) -> RequestGroup {
        var sum = one
        sum.merge(other)
        return sum
    }

    /// Returns the known properties of a group. The caller of an outgoing request is its service; that of an incoming one is not
    /// counted.
    private static func values(_ values: [String?], hasOneService: Bool) -> [ChangeCarriers.Property: String] {
        var named: [Dimension: String] = [:]
        for case (let dimension, let value?) in zip(by, values) where !value.isEmpty { named[dimension] = value }
        var properties: [ChangeCarriers.Property: String] = [:]
        properties[.version] = named[.version].map { hasOneService ? $0 : "\(named[.service] ?? "") \($0)" }
        (properties[.instance], properties[.host]) = (named[.instance], named[.host])
        properties[.endpoint] = named[.endpoint]
        if named[.kind] == RequestKind.client.rawValue { properties[.caller] = named[.service] }
        return properties
    }
}

extension Storage {
    /// Adds the carriers of the change to rows that became worse: to those that changed the most, and at most
    /// ``ChangeCarriersQuery/maxRows`` of them.
    ///
    /// - Parameter filter: the requests of the report.
    func addCarriers(to report: inout Report, _ filter: RequestFilter) async throws {
        let names = report.rows.changed.filter { $0.verdict?.change?.isWorse == true }.prefix(
            ChangeCarriersQuery.maxRows
        )
        .map(\.dimensions)
        let rows = report.rows.indices.filter { names.contains(report.rows[$0].dimensions) }
        var wanted: [(index: Int, query: ChangeCarriersQuery)] = []
        for index in rows {
            if let query = report.carriersQuery(of: report.rows[index], filter) { wanted.append((index, query)) }
        }
        guard !wanted.isEmpty else { return }
        var answers = try await statistics(wanted.flatMap(\.query.queries))[...]
        for (index, query) in wanted {
            report.rows[index].who = query.carriers(Array(answers.prefix(query.queries.count)))
            answers = answers.dropFirst(query.queries.count)
        }
    }
}

extension Report {
    /// Returns the query for what carries a row's change; `nil` if the row is not worse.
    package func carriersQuery(of row: ReportRow, _ filter: RequestFilter) -> ChangeCarriersQuery? {
        guard let affected = row.verdict.flatMap(AffectedRequests.init), let compare,
            let from = Self.time(row.changed?.from ?? self.from), let to = Self.time(row.changed?.until ?? self.to),
            from < to, let start = Self.time(self.from)
        else { return nil }
        let earlier = Self.time(compare.from).flatMap { from in
            Self.time(compare.to).map { TimeWindow(from: from, to: $0) }
        }
        var filter = filter
        for (dimension, value) in row.dimensions {
            filter.removeAll(dimension)
            filter.select(dimension, value ?? "")
        }
        // Two versions in the same window have no time before.
        let before = earlier.flatMap { $0.to <= start ? $0 : nil }
        return ChangeCarriersQuery(affected, in: TimeWindow(from: from, to: to), before: before, filter)
    }

    private static func time(_ text: String) -> UnixNanoseconds? { TimeText.parse(text, now: 0) }
}
