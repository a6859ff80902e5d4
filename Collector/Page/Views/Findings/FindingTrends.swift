import MartletFindings
import MartletReports
import MartletStorage
import MartletTelemetry

/// The figures over time of the rows that findings are about.
struct FindingTrends: Sendable {
    /// The rows with the same dimensions, which are one query.
    private struct Rows: Hashable {
        let kind: FindingRow.Kind
        let by: [Dimension]

        /// `nil` for a subject that is not a row, such as a process.
        init?(_ subject: FindingSubject) {
            guard let kind = subject.kind else { return nil }
            self.kind = kind
            by = Self.values(of: subject).filter { $0.value != nil }.map(\.dimension)
        }

        static func values(of subject: FindingSubject) -> [(dimension: Dimension, value: String?)] {
            [
                (.service, subject.service), (.method, subject.method), (.host, subject.host),
                (.endpoint, subject.endpoint),
            ]
        }
    }

    private let window: TimeWindow
    private var slots: [FindingSubject: (grid: SlotGrid, groups: [RequestGroup])] = [:]

    /// - Throws: the store's error. Rows that are too many have no figures.
    init(_ findings: [Finding], _ pageRequest: PageRequest, in storage: some Storage) async throws {
        window = pageRequest.window
        let subjects = Dictionary(grouping: Set(findings.map(\.subject)).filter { Rows($0) != nil }) { Rows($0) }
        let asked = subjects.compactMap { rows, subjects in rows.map { ($0, subjects) } }
        guard !asked.isEmpty else { return }
        let answers = try await storage.statistics(asked.map { Self.query($0, $1, pageRequest) })
        for ((_, subjects), answer) in zip(asked, answers) {
            guard let answer = try? answer.get(), let found = answer.slots else { continue }
            let rows = Dictionary(zip(answer.groups.map(\.values), found.groups)) { first, _ in first }
            for subject in subjects {
                slots[subject] = rows[Self.values(of: subject)].map { (found.grid, $0) }
            }
        }
    }

    private static func query(
        _ rows: Rows, _ subjects: [FindingSubject], _ pageRequest: PageRequest
    ) -> StatisticsQuery {
        var filter = pageRequest.filter
        filter.removeAll(.kind)
        filter.select(.kind, rows.kind.rawValue)
        var query = StatisticsQuery(
            window: pageRequest.window, filter: filter, by: rows.by, step: TrendStep.fitting(pageRequest.window))
        query.groups = .named(subjects.map { values(of: $0) })
        query.slotScale = TrendStep.scale
        return query
    }

    private static func values(of subject: FindingSubject) -> [String?] {
        Rows.values(of: subject).map(\.value).filter { $0 != nil }
    }

    /// Returns the bars of a finding; empty without figures.
    func bars(of finding: Finding) -> HTML {
        guard let (grid, groups) = slots[finding.subject] else { return .none }
        let bars = groups.enumerated().map { index, group in
            FindingBars.Bar(
                window: grid.window(ofSlot: index), value: Self.figure(group, finding.kind))
        }
        return FindingBars(bars: bars, axis: TimeAxis(grid.window), since: finding.sinceTime, until: finding.untilTime)
            .html
    }

    /// The figure that shows a finding: the share of failures, the p95, or the number of requests.
    private static func figure(_ group: RequestGroup, _ kind: FindingKind) -> Double {
        switch kind {
        case .failing, .newError: group.count > 0 ? Double(group.failedCount) / Double(group.count) : 0
        case .slow: group.milliseconds(0.95) ?? 0
        default: Double(group.count)
        }
    }
}
