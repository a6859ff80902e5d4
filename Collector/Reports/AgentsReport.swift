import MartletStorage
import MartletTelemetry

/// The senders that the collector heard of since a time, the most recently seen first.
package struct AgentsReport: Sendable, Equatable, Codable {
    /// Senders at most, so that a large fleet's do not cost more than anyone reads.
    package static let maxAgents = 1000

    /// RFC 3339, UTC: who was not heard of since is left out.
    package var from: String
    package var agents: [Agent]
    /// How many there are beside these; `nil` where there are none.
    package var more: Int?

    package struct Agent: Sendable, Equatable, Codable {
        package var service: String
        package var version: String?
        package var environment: String?
        package var instance: String
        package var host: String?
        package var capture: String?
        /// Why it captures in that way where another was asked for, or keeps no details; left out where there is no reason.
        package var captureReason: String?
        /// The sender's software and its version.
        package var agent: String?
        /// RFC 3339, UTC, the collector's clock.
        package var firstSeen: String
        package var lastSeen: String
        /// `nil` for senders that keep none.
        package var ledger: Account?
        /// Intervals of which the collector has no batch of metrics, or not all of it, although it has a later one: their
        /// batches are on their way or lost. `nil` for senders that do not number their batches.
        package var missingBatches: UInt64?
        /// Batches of metrics of which a share had arrived before, so that requests may count twice; `nil` where there
        /// are none.
        package var overlappingBatches: UInt64?
        /// Since its start, how long capture was off; `nil` where it never was.
        package var unwatchedSeconds: Double?
        /// What its requests are counted from, `metrics` or `spans`, by their kind. `nil` for Martlet's agents, which always
        /// send metrics, and for a sender that told of no request.
        package var statistics: [String: String]?

        private enum CodingKeys: String, CodingKey {
            case service, version, environment, instance, host, capture, agent, ledger, statistics
            case missingBatches = "missing_batches"
            case overlappingBatches = "overlapping_batches"
            case captureReason = "capture_reason"
            case unwatchedSeconds = "unwatched_seconds"
            case firstSeen = "first_seen"
            case lastSeen = "last_seen"
        }
    }

    /// The agent's own ledger, in requests, of the last batch that arrived, with what arrived since among the delivered.
    package struct Account: Sendable, Equatable, Codable {
        package var captured: UInt64
        package var delivered: UInt64
        package var waiting: UInt64
        /// By reason, in the agent's words.
        package var dropped: [String: UInt64]
    }

    package init(_ answer: AgentsAnswer, since: UnixNanoseconds) {
        from = TimeText.format(since)
        agents = answer.agents.map(Agent.init)
        more = answer.more > 0 ? answer.more : nil
    }
}

extension AgentsReport.Agent {
    fileprivate init(_ record: AgentRecord) {
        let resource = record.resource
        self.init(
            service: resource.service, version: resource.version, environment: resource.environment,
            instance: resource.instance, host: resource.host, capture: resource.captureMode,
            captureReason: resource.captureReason, agent: resource.agent, firstSeen: TimeText.format(record.firstSeen),
            lastSeen: TimeText.format(record.lastSeen),
            ledger: record.ledger.map(AgentsReport.Account.init), missingBatches: record.arrivals?.missing,
            overlappingBatches: record.arrivals.flatMap { $0.overlapping > 0 ? $0.overlapping : nil },
            unwatchedSeconds: record.ledger.flatMap { $0.unwatched > 0 ? Double($0.unwatched) / 1e9 : nil },
            statistics: record.statistics.isEmpty
                ? nil
                : Dictionary(uniqueKeysWithValues: record.statistics.map { ($0.key.rawValue, $0.value.rawValue) }))
    }
}

extension AgentsReport.Account {
    fileprivate init(_ ledger: LedgerReading) {
        self.init(
            captured: ledger.captured, delivered: ledger.delivered, waiting: ledger.waiting, dropped: ledger.dropped)
    }
}
