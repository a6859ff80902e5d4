import MartletStorage
import MartletTelemetry

/// Why an answer has no rows. The page, the commands and the API give the same reason.
package enum NoResultsReason: Sendable, Equatable {
    /// No agent has reported to the collector yet.
    case nobodyReported
    /// A filter asks for a name that the store does not have.
    case unknownName(UnknownName)
    /// The latest data of the selected senders are from before the window. The time of the latest request is included if it is
    /// much older.
    case silent(Sender, latestRequest: UnixNanoseconds?)
    /// The selected senders report, but their latest matching request is from before the window.
    case idle(latestRequest: UnixNanoseconds)
    /// The selected senders reported in the window, but none of their requests was counted. They may send only spans or figures
    /// of processes.
    case uncounted(Sender)
    /// The filters match no request in the window or in the week before it.
    case nothingFound

    /// An instance of a service, and the time at which its latest data arrived, by the collector's clock.
    package struct Sender: Sendable, Equatable {
        package var service: String
        package var instance: String
        package var lastSeen: UnixNanoseconds

        package init(service: String, instance: String, lastSeen: UnixNanoseconds) {
            (self.service, self.instance, self.lastSeen) = (service, instance, lastSeen)
        }

        fileprivate init(_ agent: AgentRecord) {
            self.init(service: agent.resource.service, instance: agent.resource.instance, lastSeen: agent.lastSeen)
        }
    }

    /// Finds the reason from known senders and names.
    ///
    /// - Parameters:
    ///   - sender: the latest sender that the filters match.
    ///   - request: the time of the latest matching request before the window.
    init(
        _ sender: Sender?, latestRequest request: UnixNanoseconds?, in window: TimeWindow, _ filters: [FilterValue]
    ) {
        if let sender, sender.lastSeen <= window.from {
            let since = Self.hour(of: sender.lastSeen).from
            self = .silent(sender, latestRequest: request.flatMap { $0 <= since ? $0 : nil })
        } else if let request {
            self = .idle(latestRequest: request)
        } else if let sender, sender.lastSeen <= window.to, !filters.isEmpty,
            filters.allSatisfy(\.dimension.isSenderAttribute)
        {
            self = .uncounted(sender)
        } else {
            self = .nothingFound
        }
    }

    /// Returns the hour that ends with the minute in which the latest data arrived. It is a whole hour because data may arrive
    /// some minutes after their requests.
    package static func hour(of latest: UnixNanoseconds) -> TimeWindow {
        let minute: UInt64 = 60_000_000_000
        let end = (latest / minute + 1) * minute
        return TimeWindow(from: end - min(end, 60 * minute), to: end)
    }
}

// MARK: The store's answers

extension Storage {
    /// Returns the reason why filters match no request in a window.
    ///
    /// - Parameter base: the parameter `compare`. If it names two versions, the rows are those of the later one.
    package func noResultsReason(
        for asked: [FilterValue], in window: TimeWindow, comparedWith base: String? = nil, now: UnixNanoseconds
    ) async throws -> NoResultsReason {
        if try await agents(seenSince: 0, limit: 1).agents.isEmpty { return .nobodyReported }
        let versions = ComparisonBase.versions(in: base)
        let after: [FilterValue] = versions.map { [(.version, $0.after)] } ?? []
        let names = asked + after + (versions.map { [(.version, $0.before)] } ?? [])
        for dimension in UnknownName.dimensions {
            for name in names where name.dimension == dimension {
                if let unknown = try await unknownName(name, with: names, now: now) { return .unknownName(unknown) }
            }
        }
        let filter = RequestFilter(selecting: asked + after)
        let sender = try await agents(seenSince: 0, filter, limit: 1).agents.first.map(NoResultsReason.Sender.init)
        return NoResultsReason(
            sender, latestRequest: try await latestRequest(before: window.from, filter), in: window, asked + after)
    }

    /// Returns the end of the latest interval with requests in the week before a time; `nil` if there are none.
    private func latestRequest(before time: UnixNanoseconds, _ filter: RequestFilter) async throws -> UnixNanoseconds? {
        let hour: UInt64 = 3_600_000_000_000
        func latest(_ length: UInt64, before end: UnixNanoseconds, step: UInt64?) async throws -> UnixNanoseconds? {
            let window = TimeWindow(from: end - min(end, length), to: end)
            let answer = try await statistics(StatisticsQuery(window: window, filter: filter, by: [.kind], step: step))
            let seen = answer.total.latestEnd
            return seen > 0 ? min(seen, answer.window.to) : nil
        }
        guard time > 0, let end = try await latest(7 * 24 * hour, before: time, step: nil) else { return nil }
        // A week is read from whole hours. Short slots make the store read points as finely as it keeps them, so the last hour
        // is searched again with such slots.
        return try await latest(hour, before: end, step: 60_000_000_000) ?? end
    }
}

// MARK: Answers with their reason

extension Storage {
    /// Returns a report. If it has no rows, it includes the reason; otherwise, the unknown names among the filters.
    package func report(_ parameters: ReportParameters, now: UnixNanoseconds) async throws -> Report {
        let query = try parameters.query(now: now)
        var report = try await report(query, comparedWith: try parameters.comparison(of: query))
        if report.rows.isEmpty {
            report.empty = try await noResultsReason(
                for: parameters.filters, in: query.window, comparedWith: parameters[.compare], now: now)
        } else {
            report.unknownNames = try await unknownNames(in: report, parameters, now: now)
        }
        return report
    }

    /// Returns the unknown names among several values of a filter, and the unknown version that the rows are compared with; `nil`
    /// if there are none.
    private func unknownNames(
        in report: Report, _ parameters: ReportParameters, now: UnixNanoseconds
    ) async throws -> [UnknownName]? {
        var all = parameters.filters
        var asked = all.filter { one in all.count { $0.dimension == one.dimension } > 1 }
        if report.isComparedWithNothing, let versions = ComparisonBase.versions(in: parameters[.compare]) {
            asked.append((.version, versions.before))
            all += [(.version, versions.after), (.version, versions.before)]
        }
        var unknown: [UnknownName] = []
        for name in asked {
            if let name = try await unknownName(name, with: all, now: now) { unknown.append(name) }
        }
        return unknown.isEmpty ? nil : unknown
    }

    /// Returns the senders, with the reason if there are none.
    package func agents(_ parameters: AgentsParameters, now: UnixNanoseconds) async throws -> AgentsReport {
        let since = try parameters.since(now: now)
        var report = try await agentsReport(since: since, parameters.filter(), now: now)
        if report.agents.isEmpty {
            let window = TimeWindow(from: since, to: now)
            report.empty = try await noResultsReason(for: parameters.filters, in: window, now: now)
        }
        return report
    }
}

// MARK: JSON

/// A reason in JSON: its name and its facts.
extension NoResultsReason: Codable {
    private enum Name: String, Codable {
        case silent, idle, uncounted
        case nobodyReported = "nobody_reported"
        case unknownName = "unknown_name"
        case nothingFound = "nothing_found"
    }

    private struct Facts: Codable {
        var reason: Name
        var name: UnknownName?
        var service: String?
        var instance: String?
        var lastSeen: String?
        var latestRequest: String?

        private enum CodingKeys: String, CodingKey {
            case reason, name, service, instance
            case lastSeen = "last_seen"
            case latestRequest = "latest_request"
        }

        var sender: Sender? {
            guard let service, let instance, let time = lastSeen.flatMap({ TimeText.parse($0, now: 0) }) else {
                return nil
            }
            return Sender(service: service, instance: instance, lastSeen: time)
        }

        mutating func add(_ sender: Sender) {
            (service, instance, lastSeen) = (sender.service, sender.instance, TimeText.format(sender.lastSeen))
        }
    }

    package init(from decoder: any Decoder) throws {
        let facts = try Facts(from: decoder)
        let request = facts.latestRequest.flatMap { TimeText.parse($0, now: 0) }
        switch (facts.reason, facts.name, facts.sender, request) {
        case (.nobodyReported, _, _, _): self = .nobodyReported
        case (.unknownName, let name?, _, _): self = .unknownName(name)
        case (.silent, _, let sender?, let request): self = .silent(sender, latestRequest: request)
        case (.idle, _, _, let request?): self = .idle(latestRequest: request)
        case (.uncounted, _, let sender?, _): self = .uncounted(sender)
        default: self = .nothingFound
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var facts = Facts(reason: .nothingFound)
        switch self {
        case .nobodyReported: facts.reason = .nobodyReported
        case .unknownName(let name): (facts.reason, facts.name) = (.unknownName, name)
        case .silent(let sender, let request):
            (facts.reason, facts.latestRequest) = (.silent, request.map(TimeText.format))
            facts.add(sender)
        case .idle(let request): (facts.reason, facts.latestRequest) = (.idle, TimeText.format(request))
        case .uncounted(let sender):
            facts.reason = .uncounted
            facts.add(sender)
        case .nothingFound: break
        }
        try facts.encode(to: encoder)
    }
}
