import MartletStorage
import MartletTelemetry

/// Why an answer has no rows. The page, the commands and the API give the same reason.
package enum NoResultsReason: Sendable, Equatable {
    /// No agent has reported to the collector yet.
    case nobodyReported
    /// A filter asks for a name that the store does not have.
    case unknownName(UnknownName)
    /// The selected senders sent nothing in the window that the collector took. It refused what they sent.
    case refused(Sender, why: String)
    /// The requests of the window are dated after it, because their sender's clock is ahead.
    case clockAhead(FastClock, latestRequest: UnixNanoseconds)
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

        fileprivate init(_ resource: TelemetryResource, seen: UnixNanoseconds) {
            self.init(service: resource.service, instance: resource.instance, lastSeen: seen)
        }
    }

    /// A clock of a sender that is ahead of the collector's clock.
    package struct FastClock: Sendable, Equatable {
        package var sender: Sender
        package var host: String?
        /// The clock is ahead by at least this much.
        package var seconds: Double

        /// `nil` if the sender's clock is not known to be ahead.
        fileprivate init?(_ agent: AgentRecord) {
            guard let lead = agent.lead else { return nil }
            self.init(
                sender: Sender(agent.resource, seen: agent.lastSeen), host: agent.resource.host,
                seconds: Double(lead) / 1e9)
        }

        package init(sender: Sender, host: String?, seconds: Double) {
            (self.sender, self.host, self.seconds) = (sender, host, seconds)
        }

        /// The owner of the clock and its lead, in words.
        package var sentence: String {
            let owner = host.map { "\($0), where \(sender.service) runs," } ?? sender.service
            return "The clock of \(owner) is at least \(FigureText.seconds(seconds)) ahead"
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
        let versions = ComparisonBase.versions(in: base)
        let after: [FilterValue] = versions.map { [(.version, $0.after)] } ?? []
        let filter = RequestFilter(selecting: asked + after)
        if let refusal = try await refusal(in: window, filter) { return refusal }
        if try await latestAgent(RequestFilter(), now: now) == nil { return .nobodyReported }
        let names = asked + after + (versions.map { [(.version, $0.before)] } ?? [])
        for dimension in UnknownName.dimensions {
            for name in names where name.dimension == dimension {
                if let unknown = try await unknownName(name, with: names, now: now) { return .unknownName(unknown) }
            }
        }
        if let clock = try await clockAhead(after: window, filter, now: now) { return clock }
        let sender = try await latestAgent(filter, now: now).map {
            NoResultsReason.Sender($0.resource, seen: $0.lastSeen)
        }
        return NoResultsReason(
            sender, latestRequest: try await latestRequest(before: window.from, filter), in: window, asked + after)
    }

    /// Returns the selected sender that was seen last; `nil` if there is none. It looks at the last day first, because a store may have
    /// millions of senders that are gone.
    private func latestAgent(_ filter: RequestFilter, now: UnixNanoseconds) async throws -> AgentRecord? {
        let day: UInt64 = 86_400_000_000_000
        let recent = try await agents(seenSince: now - min(now, day), filter, limit: 1).agents.first
        if let recent { return recent }
        return try await agents(seenSince: 0, filter, limit: 1).agents.first
    }

    /// Returns the reason if the collector refused everything that the selected senders sent since the window's start.
    private func refusal(in window: TimeWindow, _ filter: RequestFilter) async throws -> NoResultsReason? {
        let latest = refused.filter {
            filter.matches($0.resource) && $0.first <= window.to && $0.latest >= window.from
        }.max { $0.latest < $1.latest }
        guard let latest, let reason = latest.reasons.first,
            try await agents(seenSince: window.from, filter, limit: 1).agents.isEmpty
        else { return nil }
        return .refused(NoResultsReason.Sender(latest.resource, seen: latest.latest), why: reason.text)
    }

    /// Returns the reason if a clock is ahead, and requests that were made in the window are dated after it.
    private func clockAhead(
        after window: TimeWindow, _ filter: RequestFilter, now: UnixNanoseconds
    ) async throws -> NoResultsReason? {
        // A window that goes on may have ended some seconds before the first batch arrived.
        let minute: UInt64 = 60_000_000_000
        let patience = window.to.adding(minute) >= now ? minute : 0
        let senders = try await agents(seenSince: window.from, filter, limit: AgentsReport.maxAgents).agents
            .filter { $0.lead != nil && $0.latestEnd > window.to && $0.firstSeen <= window.to.adding(patience) }
        guard let lead = senders.compactMap(\.lead).max() else { return nil }
        let after = TimeWindow(from: window.to, to: window.to.adding(lead).adding(patience))
        var filter = filter
        filter.removeAll(.instance)
        for sender in senders { filter.select(.instance, sender.resource.instance) }
        let query = StatisticsQuery(window: after, filter: filter, by: [.service, .instance])
        let latest = try await statistics(query).groups.max { $0.latestEnd < $1.latestEnd }
        guard let latest, latest.latestEnd > window.to else { return nil }
        let sender = senders.first { [$0.resource.service, $0.resource.instance] == latest.values.map { $0 ?? "" } }
        return sender.flatMap(NoResultsReason.FastClock.init).map {
            .clockAhead($0, latestRequest: latest.latestEnd)
        }
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
    /// Returns a report, with what carries its changes for the worse. If it has no rows, it includes the reason; otherwise, the
    /// unknown names among the filters.
    ///
    /// - Parameter histories: the pasts of rows in this store; `nil` to read those that are needed.
    package func report(
        _ parameters: ReportParameters, now: UnixNanoseconds, _ histories: RowHistories? = nil
    ) async throws -> Report {
        let query = try parameters.query(now: now)
        let base = try parameters.comparison(of: query)
        var report = try await report(query, comparedWith: base, histories)
        if let base { try await addCarriers(to: &report, base.query(after: query).filter) }
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
        case silent, idle, uncounted, refused
        case clockAhead = "clock_ahead"
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
        var why: String?
        var host: String?
        var clockSeconds: Double?

        private enum CodingKeys: String, CodingKey {
            case reason, name, service, instance, why, host
            case lastSeen = "last_seen"
            case latestRequest = "latest_request"
            case clockSeconds = "clock_seconds"
        }

        var clock: FastClock? {
            guard let sender, let clockSeconds else { return nil }
            return FastClock(sender: sender, host: host, seconds: clockSeconds)
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
        case (.refused, _, let sender?, _): self = .refused(sender, why: facts.why ?? "")
        case (.nobodyReported, _, _, _): self = .nobodyReported
        case (.unknownName, let name?, _, _): self = .unknownName(name)
        case (.silent, _, let sender?, let request): self = .silent(sender, latestRequest: request)
        case (.idle, _, _, let request?): self = .idle(latestRequest: request)
        case (.uncounted, _, let sender?, _): self = .uncounted(sender)
        case (.clockAhead, _, _, let request?):
            self = facts.clock.map { .clockAhead($0, latestRequest: request) } ?? .nothingFound
        default: self = .nothingFound
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var facts = Facts(reason: .nothingFound)
        switch self {
        case .nobodyReported: facts.reason = .nobodyReported
        case .unknownName(let name): (facts.reason, facts.name) = (.unknownName, name)
        case .refused(let sender, let why):
            (facts.reason, facts.why) = (.refused, why)
            facts.add(sender)
        case .clockAhead(let clock, let request):
            (facts.reason, facts.latestRequest) = (.clockAhead, TimeText.format(request))
            (facts.host, facts.clockSeconds) = (clock.host, clock.seconds)
            facts.add(clock.sender)
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
