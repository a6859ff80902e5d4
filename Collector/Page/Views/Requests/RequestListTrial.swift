import MartletReports
import MartletStorage

/// A condition of an empty list, tried by itself and left out.
struct RequestListTrial: Sendable {
    /// Conditions that are tried at most: each takes two looks at all kept requests.
    private static let maxTrials = 8

    let filter: RequestListFilter
    /// The kept requests of the window that match the condition, whatever the others are.
    let alone: Int
    /// The kept requests that match all others.
    let without: Int

    static func all(
        _ filters: [RequestListFilter], _ visit: Visit, in storage: some Storage
    ) async throws -> [RequestListTrial] {
        var trials: [RequestListTrial] = []
        for filter in filters.prefix(maxTrials) {
            let others = filter.others(of: visit.parameters)
            let window = others.filter { [.since, .until].contains($0.name) }
            trials.append(
                RequestListTrial(
                    filter: filter,
                    alone: try await count(window + [(filter.name, filter.value)], visit, in: storage),
                    without: try await count(others, visit, in: storage)))
        }
        return trials
    }

    private static func count(
        _ values: [(name: PageParameter, value: String)], _ visit: Visit, in storage: some Storage
    ) async throws -> Int {
        var parameters = RequestsParameters()
        for (name, value) in values {
            if let name = RequestsParameter(rawValue: name.rawValue) { parameters.add(name, value) }
        }
        var query = try parameters.query(now: visit.now)
        query.limit = 1
        return try await storage.requests(query).count
    }
}
