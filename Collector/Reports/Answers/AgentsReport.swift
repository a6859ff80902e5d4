import MartletStorage
import MartletTelemetry

/// The senders that the collector has seen since a time, the most recently seen first.
package struct AgentsReport: Sendable, Equatable, Codable {
    /// The most senders in an answer, so that the answer for a large fleet is short enough for a person to read.
    package static let maxAgents = 1000

    /// RFC 3339, UTC. Senders last seen before this time are left out.
    package var from: String
    package var agents: [Agent]
    /// The number of senders that were left out; `nil` if the list is complete.
    package var more: Int?
    /// The services that took CPU time while requests waited, in this hour and the one before; `nil` if none took much.
    package var busyWaits: [BusyWait]?
    /// Why there are no senders; `nil`, and left out, if there are some.
    package var empty: NoResultsReason?

    private enum CodingKeys: String, CodingKey {
        case from, agents, more, empty
        case busyWaits = "busy_waits"
    }

    package struct Agent: Sendable, Equatable, Codable {
        package var service: String
        package var version: String?
        package var environment: String?
        package var instance: String
        package var host: String?
        package var capture: String?
        /// Why the sender does not capture as requested, or keeps no details; left out if there is nothing to explain.
        package var captureReason: String?
        /// Rules in force that change the sender's requests; `nil` for none.
        package var rules: Int?
        /// The sender's software and its version.
        package var agent: String?
        /// RFC 3339, UTC, by the collector's clock. The collector may have refused all that it saw.
        package var firstSeen: String
        package var lastSeen: String
        /// The end of the latest interval or span that the sender has reported, RFC 3339, UTC, by the sender's clock; `nil` if it
        /// sent no time.
        package var reportedUntil: String?
        /// `nil` for senders that keep no ledger.
        package var ledger: Account?
        /// The number of intervals whose batch of metrics has not arrived completely although a later batch has. The missing
        /// batches are late or lost. `nil` for senders that do not number their batches.
        package var missingBatches: UInt64?
        /// The number of batches of metrics of which a part had arrived before, so that requests may be counted twice; `nil` if
        /// there are none.
        package var overlappingBatches: UInt64?
        /// How long capture has been off since the sender's start, in seconds; `nil` if it never was.
        package var unwatchedSeconds: Double?
        /// CPU time of the agent since its process started, in seconds; `nil` if unknown.
        package var cpuSeconds: Double?
        /// The sender's latest timestamp minus the collector's time at its last arrival, in seconds. A positive value means that
        /// the sender's clock is ahead. `nil` if it sent no time.
        package var clockSeconds: Double?
        /// The source of the sender's counts, `metrics` or `spans`, by the kind of request. `nil` for Martlet's agents, which
        /// always send metrics, and for a sender that reported no request.
        package var statistics: [String: String]?
        /// The name and version of its runtime, such as `swift 6.3`; `nil` if unknown.
        package var runtime: String?
        /// The figures of its process in the last minute that it reported; `nil` if it reported none lately.
        package var process: ProcessMeasures?
        /// Whether several processes share the sender, so that some requests may be missing; `nil` if none is known to.
        package var isShared: Bool?
        /// The refusals of the sender since the collector started; `nil` if there are none.
        package var refused: Refused?
        /// How its process ended; `nil` if nothing was reported, as while it lives.
        package var ended: End?

        private enum CodingKeys: String, CodingKey {
            case service, version, environment, instance, host, capture, rules, agent, ledger, statistics, runtime,
                process, refused, ended
            case missingBatches = "missing_batches"
            case overlappingBatches = "overlapping_batches"
            case captureReason = "capture_reason"
            case isShared = "is_shared"
            case cpuSeconds = "cpu_seconds"
            case clockSeconds = "clock_seconds"
            case unwatchedSeconds = "unwatched_seconds"
            case firstSeen = "first_seen"
            case lastSeen = "last_seen"
            case reportedUntil = "reported_until"
        }
    }

    /// The agent's ledger, in requests, as its latest batch reported it. Requests in batches that the collector has stored
    /// since then are counted as delivered.
    package struct Account: Sendable, Equatable, Codable {
        package var captured: UInt64
        package var delivered: UInt64
        package var waiting: UInt64
        /// Dropped requests by reason, in the agent's words.
        package var dropped: [String: UInt64]
    }

    /// The end of a process.
    package struct End: Sendable, Equatable, Codable {
        /// Its last sign of life, RFC 3339, UTC, by its clock.
        package var at: String
        /// ``EndCause``
        package var cause: String
        /// The cause in words, with the line of a crash; `nil` if nothing is known.
        package var reason: String?
        /// The innermost function of a crash.
        package var function: String?
        /// The endpoint of its requests in flight; `nil` if they were of several.
        package var endpoint: String?

        fileprivate init(_ end: ReportedEnd) {
            (at, cause, reason) = (TimeText.format(end.time), end.cause.rawValue, end.causeText)
            (function, endpoint) = (end.function, end.endpoint)
        }

        /// `nil` for an end after a shutdown.
        fileprivate var sentence: String? {
            guard cause != EndCause.clean.rawValue else { return nil }
            let parts = [reason, endpoint.map { "during \($0)" }].compactMap { $0 }
            return "ended without shutdown at \(at)" + (parts.isEmpty ? "" : ": \(parts.joined(separator: ", "))")
        }
    }

    /// Points and spans that the collector did not store.
    package struct Refused: Sendable, Equatable, Codable {
        package struct Reason: Sendable, Equatable, Codable {
            package var reason: String
            package var count: UInt64
        }

        package var points: UInt64
        package var spans: UInt64
        /// The start of the collector, RFC 3339, UTC, by its clock.
        package var since: String
        package var latest: String
        /// Some of the reasons, the latest first.
        package var reasons: [Reason]
    }

    /// - Parameters:
    ///   - refused: what the collector refused of the selected senders.
    ///   - ends: how processes ended, the latest first.
    package init(
        _ answer: AgentsAnswer, since: UnixNanoseconds, busyWaits: [BusyWait] = [], refused: [RefusedTelemetry] = [],
        ends: [StoredEnd] = []
    ) {
        self.busyWaits = busyWaits.isEmpty ? nil : busyWaits
        from = TimeText.exact(since)
        var rest = Dictionary(refused.map { ($0.resource.identity, $0) }) { first, _ in first }
        let known = answer.agents.map { Agent($0, refused: rest.removeValue(forKey: $0.resource.identity)) }
        let others = rest.values.filter { $0.latest >= since }.sorted { $0.latest > $1.latest }.map(Agent.init)
        let all = refused.isEmpty ? known : Self.latestFirst(known + others)
        agents = Array(all.prefix(Self.maxAgents))
        let more = answer.more + all.count - agents.count
        self.more = more > 0 ? more : nil
        let ended = Dictionary(ends.map { (Sender($0), $0.end) }) { latest, _ in latest }
        for index in agents.indices where !ended.isEmpty {
            agents[index].ended = ended[Sender(agents[index])].map(End.init)
        }
    }

    /// The sender that the end of a process names.
    private struct Sender: Hashable {
        let service: String
        let environment: String?
        let instance: String

        init(_ end: StoredEnd) { (service, environment, instance) = (end.service, end.environment, end.end.instance) }

        init(_ agent: Agent) { (service, environment, instance) = (agent.service, agent.environment, agent.instance) }
    }

    private static func latestFirst(_ agents: [Agent]) -> [Agent] {
        // Times in seconds have the order of their texts. Agents of the same second keep their order.
        agents.indices.sorted { (agents[$1].lastSeen, $0) < (agents[$0].lastSeen, $1) }.map { agents[$0] }
    }
}

extension AgentsReport.Agent {
    /// A sender of which nothing was stored.
    fileprivate init(_ refused: RefusedTelemetry) {
        let resource = refused.resource
        self.init(
            service: resource.service, version: resource.version, environment: resource.environment,
            instance: resource.instance, host: resource.host, agent: resource.agent,
            firstSeen: TimeText.format(refused.first), lastSeen: TimeText.format(refused.latest),
            refused: AgentsReport.Refused(refused))
    }

    fileprivate init(_ record: AgentRecord, refused: RefusedTelemetry?) {
        let resource = record.resource
        self.init(
            service: resource.service, version: resource.version, environment: resource.environment,
            instance: resource.instance, host: resource.host, capture: resource.captureMode,
            captureReason: resource.captureReason, rules: resource.rules, agent: resource.agent,
            firstSeen: TimeText.format(record.firstSeen),
            lastSeen: TimeText.format(max(record.lastSeen, refused?.latest ?? 0)),
            reportedUntil: record.latestTime > 0 ? TimeText.exact(record.latestTime) : nil,
            ledger: record.ledger.map(AgentsReport.Account.init), missingBatches: record.gaps?.missing,
            overlappingBatches: record.gaps.flatMap { $0.overlapping > 0 ? $0.overlapping : nil },
            unwatchedSeconds: record.ledger.flatMap { $0.unwatched > 0 ? Double($0.unwatched) / 1e9 : nil },
            cpuSeconds: record.ledger.flatMap { $0.agentCPU > 0 ? Double($0.agentCPU) / 1e9 : nil },
            clockSeconds: record.clockSeconds,
            statistics: record.statistics.isEmpty
                ? nil
                : Dictionary(uniqueKeysWithValues: record.statistics.map { ($0.key.rawValue, $0.value.rawValue) }),
            runtime: resource.runtime, process: record.process.map(ProcessMeasures.init),
            isShared: record.isShared ? true : nil, refused: refused.map(AgentsReport.Refused.init))
    }
}

extension AgentsReport.Refused {
    fileprivate init(_ refused: RefusedTelemetry) {
        self.init(
            points: refused.points, spans: refused.spans, since: TimeText.format(refused.since),
            latest: TimeText.format(refused.latest),
            reasons: refused.reasons.map { Reason(reason: $0.text, count: $0.count) })
    }

    /// The refused points and spans, in words.
    package var amount: String {
        [(points, "point"), (spans, "span")].filter { $0.0 > 0 }.map { FigureText.counted($0.0, $0.1) }
            .joined(separator: " and ")
    }

    fileprivate var sentence: String {
        let why = reasons.map { reasons.count > 1 ? "\($0.reason) (\(FigureText.grouped($0.count)))" : $0.reason }
        return "\(amount) refused since the collector started at \(since), the latest at \(latest): "
            + why.joined(separator: "; ")
    }
}

extension AgentRecord {
    /// The latest time that the sender reported; 0 for none. Every ledger has a time, even if the agent has no requests.
    fileprivate var latestTime: UnixNanoseconds { max(latestEnd, ledger?.time ?? 0) }

    fileprivate var clockSeconds: Double? {
        guard latestTime > 0 else { return nil }
        return ((Double(latestTime) - Double(lastSeen)) / 1e6).rounded() / 1000
    }
}

extension AgentsReport.Account {
    fileprivate init(_ ledger: LedgerReading) {
        self.init(
            captured: ledger.captured, delivered: ledger.delivered, waiting: ledger.waiting, dropped: ledger.dropped)
    }
}

extension Storage {
    /// Returns the filtered senders that the collector has seen since a time, what it refused of them, and their recent busy
    /// waits.
    package func agentsReport(
        since: UnixNanoseconds, _ filter: RequestFilter, now: UnixNanoseconds
    ) async throws -> AgentsReport {
        let answer = try await agents(seenSince: since, filter, limit: AgentsReport.maxAgents)
        let window = TimeWindow(from: since, to: max(since, now))
        let ends = try await processEnds(in: window, filter, limit: AgentsReport.maxAgents)
        return AgentsReport(
            answer, since: since, busyWaits: try await recentBusyWaits(now: now, filter),
            refused: refused.filter { filter.matches($0.resource) }, ends: ends)
    }
}

/// The state of a sender's clock. A point arrives after it ended, so an end in the future shows that the clock is ahead. An end in
/// the past may only mean that the batch came late.
package enum AgentClock: Sendable, Equatable {
    case unknown
    case fits
    /// The clock is ahead by at least this many seconds.
    case ahead(Double)
    /// Seconds from the end of the sender's latest interval to its arrival.
    case late(Double)

    /// Seconds that a clock may be ahead and still count as in sync.
    private static let tolerance = Double(WindowAccount.ClocksAhead.tolerance) / 1e9
    /// Agents deliver an interval within this many seconds, unless something prevents it.
    private static let usual = 60.0
}

extension AgentsReport.Agent {
    /// The state of the sender's clock. Only a sender with a ledger sends its time with each batch.
    package var clock: AgentClock { AgentClock(seconds: clockSeconds, hasLedger: ledger != nil) }
}

extension AgentClock {
    fileprivate init(seconds: Double?, hasLedger: Bool) {
        guard let seconds else {
            self = .unknown
            return
        }
        self = seconds > Self.tolerance ? .ahead(seconds) : hasLedger && -seconds > Self.usual ? .late(-seconds) : .fits
    }

    /// `nil` for a clock that is in sync or unknown.
    var sentence: String? {
        switch self {
        case .unknown, .fits: nil
        case .ahead(let seconds): "its clock is at least \(FigureText.seconds(seconds)) ahead of the collector's"
        case .late(let seconds):
            """
            its latest interval arrived \(FigureText.seconds(seconds)) after it ended: its clock is behind, or its batches are \
            late
            """
        }
    }
}

extension AgentsReport.Agent {
    /// Facts that need attention. They are rare, and too long for a column.
    package var notes: [String] {
        var notes: [String] = []
        if let sentence = ended?.sentence { notes.append(sentence) }
        if let refused { notes.append(refused.sentence) }
        if let reason = captureReason { notes.append("capture is \(capture ?? "off"), \(reason)") }
        if let rules {
            notes.append("\(rules == 1 ? "1 rule changes" : "\(rules) rules change") its requests (report --by rule)")
        }
        if let seconds = unwatchedSeconds {
            notes.append("capture was off for \(FigureText.seconds(seconds)) since the process started")
        }
        let reasons = (ledger?.dropped ?? [:]).filter { $0.value > 0 }.sorted { $0.key < $1.key }
        if !reasons.isEmpty {
            notes.append("dropped " + reasons.map { "\($0.value) \($0.key)" }.joined(separator: ", "))
        }
        if let count = overlappingBatches {
            notes.append("some requests may be counted twice, in batches that overlap with earlier ones: \(count)")
        }
        if isShared == true {
            notes.append(
                "several processes share this sender, so some requests may be missing (give each a service.instance.id)"
            )
        }
        if let sentence = clock.sentence { notes.append(sentence) }
        let kinds = (statistics ?? [:]).filter { $0.value == "spans" }.keys.sorted()
        if !kinds.isEmpty {
            notes.append(
                """
                \(kinds.joined(separator: " and ")) requests are counted from spans only; \
                requests that were not sampled are missing
                """)
        }
        return notes
    }
}

extension AgentsReport.Account {
    /// Returns the sum of ledgers; `nil` for none. A sum that exceeds 64 bits becomes the largest number.
    package static func sum(of ledgers: [AgentsReport.Account]) -> AgentsReport.Account? {
        guard let first = ledgers.first else { return nil }
        return ledgers.dropFirst().reduce(into: first) { sum, ledger in
            sum.captured = sum.captured.adding(ledger.captured)
            sum.delivered = sum.delivered.adding(ledger.delivered)
            sum.waiting = sum.waiting.adding(ledger.waiting)
            sum.dropped.merge(ledger.dropped) { $0.adding($1) }
        }
    }
}
