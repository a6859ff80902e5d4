import MartletReports
import MartletStorage
import MartletTelemetry

/// The requests of a window that agents captured and that did not arrive, and the agents that know more.
struct Incompleteness: Sendable {
    /// Requests that did not arrive, of all senders that the filter selects.
    let missing: UInt64
    /// Those of each service with any. Agents know no more than the service: each could be of any of its endpoints.
    let byService: [String: UInt64]
    /// Sentences about agents that are silent, or whose ledgers have waiting or dropped requests or gaps.
    let agents: [(name: String, facts: String)]
    /// Sentences about figures that are missing for other reasons.
    let gaps: [String]

    /// - Parameters:
    ///   - answer: the figures of all services.
    ///   - agents: the senders of the window that the filter selects.
    init(_ visit: Visit, _ answer: StatisticsAnswer, _ agents: AgentsAnswer) {
        missing = answer.account.missing
        byService = answer.account.services.mapValues(\.missing).filter { $0.value > 0 }
        // The sentences need no rows.
        var whole = answer
        (whole.groups, whole.slots) = ([], nil)
        gaps = Report(whole, for: StatisticsQuery(window: answer.window, by: [.service, .kind])).gaps
        let isWhole = missing == 0
        self.agents =
            isWhole
            ? []
            : agents.agents.compactMap { record in
                record.shortfall(at: visit.now).map { (record.resource.instance, $0) }
            }
    }

    /// Returns the failure rates that are left open for requests of a service, or of all services.
    func bounds(_ measures: RequestMeasures, of service: String? = nil) -> FailureBounds? {
        FailureBounds(
            failed: measures.failures.count, of: measures.count,
            missing: service.map { byService[$0] ?? 0 } ?? missing)
    }
}

extension AgentRecord {
    /// The requests that it could not deliver, in words; `nil` if it delivered all.
    fileprivate func shortfall(at now: UnixNanoseconds) -> String? {
        var facts: [String] = []
        if let ledger, ledger.waiting > 0 { facts.append("\(FigureText.grouped(ledger.waiting)) requests wait there") }
        let dropped = (ledger?.dropped ?? [:]).filter { $0.value > 0 }.sorted { $0.key < $1.key }
        if !dropped.isEmpty {
            let reasons = dropped.map { "\(FigureText.grouped($0.value)) \($0.key)" }.joined(separator: ", ")
            facts.append("dropped \(reasons)")
        }
        if let gaps, gaps.missing > 0 {
            facts.append("\(gaps.missing) \(gaps.missing == 1 ? "batch is" : "batches are") missing in its sequence")
        }
        guard !facts.isEmpty else { return nil }
        if now > lastSeen, now - lastSeen > AgentList.silence {
            facts.insert("silent for \(FigureText.age((now - lastSeen) / 1_000_000_000))", at: 0)
        }
        return facts.joined(separator: ", ")
    }
}
