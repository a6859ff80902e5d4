import MartletStorage
import MartletTelemetry

/// Every sender that the collector knows, the most recently seen first.
package struct AgentsReport: Sendable, Equatable, Codable {
    package var agents: [Agent]

    package struct Agent: Sendable, Equatable, Codable {
        package var service: String
        package var version: String?
        package var environment: String?
        package var instance: String
        package var host: String?
        package var capture: String?
        /// Why it captures in that way where another was asked for; left out where there is no reason.
        package var captureReason: String?
        /// The sender's software and its version.
        package var agent: String?
        /// RFC 3339, UTC, the collector's clock.
        package var firstSeen: String
        package var lastSeen: String
        /// `nil` for senders that keep none.
        package var ledger: Account?

        private enum CodingKeys: String, CodingKey {
            case service, version, environment, instance, host, capture, agent, ledger
            case captureReason = "capture_reason"
            case firstSeen = "first_seen"
            case lastSeen = "last_seen"
        }
    }

    /// The agent's own ledger, in requests, as it stood when it made the last batch that arrived: that batch's requests
    /// are still waiting in it.
    package struct Account: Sendable, Equatable, Codable {
        package var captured: UInt64
        package var delivered: UInt64
        package var waiting: UInt64
        package var dropped: [String: UInt64]
    }

    package init(_ records: [AgentRecord]) {
        agents = records.map(Agent.init)
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
            ledger: record.ledger.map { AgentsReport.Account($0.ledger) })
    }
}

extension AgentsReport.Account {
    fileprivate init(_ ledger: Ledger) {
        self.init(
            captured: ledger.captured, delivered: ledger.delivered, waiting: ledger.waiting,
            dropped: Dictionary(uniqueKeysWithValues: ledger.dropped.map { ($0.rawValue, $1) }))
    }
}
