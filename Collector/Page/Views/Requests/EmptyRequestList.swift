import MartletReports
import MartletStorage

/// An empty list: the condition that matched nothing, and links that remove it.
struct EmptyRequestList {
    let list: RequestList
    private var pageRequest: PageRequest { list.pageRequest }

    var html: HTML {
        element("section", .class("panel"), Attribute("aria-labelledby", "h-empty")) {
            element("h2", .id("h-empty")) { title }
            if pageRequest.parameters[.before] != nil {
                element("p", .class("hint")) { "The list ends here." }
            } else {
                if !list.filters.isEmpty { trials }
                counted
            }
        }
    }

    private var title: String {
        guard list.report.count == 0 else { return "No more requests" }
        return list.filters.isEmpty
            ? "No request is kept \(pageRequest.period)" : "No kept request matches \(pageRequest.period)"
    }

    private var trials: HTML {
        element("dl", .class("pairs")) {
            for trial in list.trials { pair(trial) }
            element("div") {
                element("dt") { "all of them" }
                element("dd") {
                    link(pageRequest.windowOnly) { "Leave them out" }
                    ": all kept requests"
                }
            }
        }
    }

    private func pair(_ trial: RequestListTrial) -> HTML {
        element("div") {
            element("dt") { trial.filter.text }
            element("dd") {
                if list.trials.count > 1 { "matches \(Self.requests(trial.alone)) by itself. " }
                link(trial.filter.address(without: pageRequest)) { "Leave it out" }
                ": \(trial.without == 0 ? "still none" : Self.requests(trial.without))"
            }
        }
    }

    private static func requests(_ count: Int) -> String {
        switch count {
        case 0: "no request"
        case 1: "1 request"
        default: "\(FigureText.grouped(UInt64(count))) requests"
        }
    }

    /// Says whether some counted requests are not kept. If so, no condition is to blame for the empty list.
    private var counted: HTML {
        guard let counted = list.counted else { return .none }
        guard counted.all > 0 else {
            return element("p", .class("hint")) {
                "No request was counted either. "
                if let empty = list.empty { empty.advice }
            }
        }
        let wantsFailures = list.filters.contains { $0.name == .failed }
        return (wantsFailures ? counted.failed : counted.all) > 0 ? sampling : .none
    }

    private var sampling: HTML {
        element("p", .class("hint")) {
            "Agents count every request. They keep the details of a share of all traces ("
            element("code") { "MARTLET_SAMPLE_RATE" }
            "), and of failed and slow requests. The collector drops details before it drops counts ("
            element("code") { "--details" }
            ")."
        }
    }
}

extension PageRequest {
    /// The first page of the list without any condition.
    fileprivate var windowOnly: PageAddress {
        parameters.values.filter { [.since, .until, .refresh].contains($0.name) }.reduce(base) {
            $0.adding($1.name, $1.value)
        }
    }
}

/// A condition of an empty list, with the numbers of requests that match only it and that match without it.
struct RequestListTrial: Sendable {
    /// The maximum number of conditions to try. Each takes two scans of all kept requests.
    private static let maxTrials = 8

    let filter: RequestListFilter
    /// The kept requests of the window that match this condition, ignoring the others.
    let alone: Int
    /// The kept requests that match all other conditions.
    let without: Int

    static func all(
        _ filters: [RequestListFilter], _ pageRequest: PageRequest, in storage: some Storage
    ) async throws -> [RequestListTrial] {
        var trials: [RequestListTrial] = []
        for filter in filters.prefix(maxTrials) {
            let others = filter.others(of: pageRequest.parameters)
            let window = others.filter { [.since, .until].contains($0.name) }
            trials.append(
                RequestListTrial(
                    filter: filter,
                    alone: try await count(window + [(filter.name, filter.value)], pageRequest, in: storage),
                    without: try await count(others, pageRequest, in: storage)))
        }
        return trials
    }

    private static func count(
        _ values: [(name: PageParameter, value: String)], _ pageRequest: PageRequest, in storage: some Storage
    ) async throws -> Int {
        var parameters = RequestsParameters()
        for (name, value) in values {
            if let name = RequestsParameter(rawValue: name.rawValue) { parameters.add(name, value) }
        }
        var query = try parameters.query(now: pageRequest.now)
        query.limit = 1
        return try await storage.requests(query).count
    }
}
