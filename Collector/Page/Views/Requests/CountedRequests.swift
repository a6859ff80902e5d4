import MartletReports
import MartletStorage
import MartletTelemetry

/// The number of requests that the conditions of a list select among all that were counted, kept or not.
struct CountedRequests: Sendable {
    /// Errors that are named at most.
    private static let maxErrors = 4

    let made: UInt64
    let served: UInt64
    let failed: UInt64
    /// The failed requests by status class, and by error where no status came; the most first.
    let causes: [(filter: RequestListFilter, count: UInt64)]

    var all: UInt64 { made + served }

    /// - Parameters:
    ///   - answer: groups by status and error.
    ///   - onlyFailed: whether the list has failed requests alone. A status may be a failure on one side of a request only.
    init(_ answer: StatisticsAnswer, onlyFailed: Bool) {
        made = answer.totals[.client]?.count ?? 0
        served = answer.totals[.server]?.count ?? 0
        failed = answer.totals.values.reduce(0) { $0 + $1.failed.duration.count }
        let count = { (group: RequestGroup) in onlyFailed ? group.failedCount : group.count }
        causes = Self.classes(of: answer, count) + Self.errors(of: answer, count).prefix(Self.maxErrors)
    }

    /// Returns `nil` if the list has conditions that the counts do not know.
    static func load(_ visit: Visit, in storage: some Storage) async throws -> CountedRequests? {
        let isUnknown = visit.parameters.values.contains { [.search, .slowerThan, .fasterThan].contains($0.name) }
        guard !isUnknown else { return nil }
        return CountedRequests(
            try await storage.statistics(
                StatisticsQuery(window: visit.window, filter: visit.filter, by: [.status, .error])),
            onlyFailed: visit.parameters[.failed] == "true")
    }

    private static func classes(
        of answer: StatisticsAnswer, _ number: (RequestGroup) -> UInt64
    ) -> [(filter: RequestListFilter, count: UInt64)] {
        ["5xx", "4xx"].compactMap { name in
            let count = answer.groups.filter { ($0.values[0] ?? "").first == name.first }.reduce(0) { $0 + number($1) }
            return count > 0 ? (RequestListFilter(name: .status, value: name), count) : nil
        }
    }

    private static func errors(
        of answer: StatisticsAnswer, _ number: (RequestGroup) -> UInt64
    ) -> [(filter: RequestListFilter, count: UInt64)] {
        var counts: [String: UInt64] = [:]
        for group in answer.groups where group.values[0] == nil {
            if let error = group.values[1] { counts[error, default: 0] += number(group) }
        }
        return counts.filter { $0.value > 0 }.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map {
            (RequestListFilter(name: .error, value: $0.key), $0.value)
        }
    }
}
