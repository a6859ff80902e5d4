import MartletStorage
import MartletTelemetry

/// The senders that have not reported up to the end of a window, so that some of its requests may still be on their way. Pure.
///
/// All times are the collector's. A sender that it has not seen for ``memory`` has ended, and is not waited for.
package struct AwaitedSenders: Sendable, Equatable {
    package typealias Sender = AgentsReport.Agent

    /// Every sender that lives reports more often: an agent without requests each minute, other senders each minute by default.
    package static let memory: UInt64 = 120_000_000_000
    /// The time in which an interval reaches the store after its end, in nanoseconds. Usually a fraction of a second.
    private static let delivery: UInt64 = 3_000_000_000
    /// The time over which ``history(of:)`` looks for the intervals of a sender.
    private static let historyLength = "15m"
    /// The interval of agents by default, and the length of the history's slots.
    private static let interval = TrendStep.shortest
    /// The most senders in a history: the most values of a filter.
    package static let maxInHistory = 16

    /// The end of the window, or the time of the first look if that is earlier.
    package let end: UnixNanoseconds
    /// The time of the latest look.
    package private(set) var now: UnixNanoseconds
    package private(set) var senders: [Sender] = []
    /// The number of senders of each service that have been seen lately.
    private var living: [String: Int] = [:]

    /// - Parameters:
    ///   - report: the senders that ``list(_:)`` selects.
    ///   - end: the window's end, computed from the time of the first look.
    package init(_ report: AgentsReport, until end: (UnixNanoseconds) throws -> UnixNanoseconds) rethrows {
        now = Self.time(of: report)
        self.end = min(try end(now), now)
        look(at: report)
    }

    /// Takes a later list of the senders.
    package mutating func look(at report: AgentsReport) {
        now = Self.time(of: report)
        senders = report.agents.filter { $0.reported < end }
        living = Dictionary(report.agents.map { ($0.service, 1) }, uniquingKeysWith: +)
    }

    /// Removes the senders whose silence shows that they have nothing to report. Call it after the wait.
    ///
    /// - Parameter histories: the reports that ``history(of:)`` asks for.
    package mutating func removeIdle(_ histories: [Report]) {
        var counts: [[String]: [UInt64]] = [:]
        for row in histories.flatMap(\.rows) {
            counts[[row.text(of: .service), row.text(of: .instance)]] = row.trend?.count
        }
        senders = senders.filter { !isIdle($0, counts[[$0.service, $0.instance]] ?? []) }
    }

    /// An agent without requests is silent for up to a minute. So its silence shows that it has none if it lasts longer than the
    /// agent's interval, and if no requests wait in its buffer. Metrics of other senders come even without requests, and spans
    /// come only with requests.
    ///
    /// - Parameter counts: the sender's requests in the slots of its history.
    private func isIdle(_ sender: Sender, _ counts: [UInt64]) -> Bool {
        guard let ledger = sender.ledger else { return sender.statistics?.values.contains("metrics") != true }
        guard ledger.waiting == 0, let interval = interval(counts, of: sender) else { return false }
        return now >= end + interval + Self.delivery
    }

    /// Returns the longest interval that an agent can have: the shortest time between slots with its requests. `nil` if the agent
    /// is new and has reported requests only once.
    private func interval(_ counts: [UInt64], of sender: Sender) -> UInt64? {
        let slots = counts.indices.filter { counts[$0] > 0 }
        let steps = zip(slots, slots.dropFirst()).map { $1 - $0 }
        if let shortest = steps.min() { return UInt64(shortest) * Self.interval }
        let isNew = (TimeText.parse(sender.firstSeen, now: 0) ?? 0) + UInt64(counts.count) * Self.interval > now
        return slots.isEmpty || !isNew ? Self.interval : nil
    }

    private static func time(of report: AgentsReport) -> UnixNanoseconds {
        (TimeText.parse(report.from, now: 0) ?? 0) + memory
    }
}

extension AgentsReport.Agent {
    /// The time up to which the sender has reported. The clock of a sender may be ahead, but no data arrive before their time.
    fileprivate var reported: UnixNanoseconds {
        let (seen, end) = (TimeText.parse(lastSeen, now: 0) ?? 0, reportedUntil.flatMap { TimeText.parse($0, now: 0) })
        // The text of the arrival has whole seconds.
        return min(end ?? seen, seen + 999_999_999)
    }
}

// MARK: Queries

extension AwaitedSenders {
    /// Returns the query for the senders seen lately.
    ///
    /// - Parameter filters: filters of requests. Only those by sender count.
    package static func list(_ filters: [FilterValue]) throws(ParameterError) -> AgentsParameters {
        var parameters = AgentsParameters()
        parameters.add(.since, TimeText.length(memory))
        try parameters.add(filters.filter { AgentsParameter.filters.contains($0.dimension) })
        return parameters
    }

    /// Returns the query for the requests of senders over time.
    ///
    /// - Parameter senders: at most ``maxInHistory``.
    package static func history(of senders: some Sequence<Sender>) -> ReportParameters {
        var parameters = ReportParameters()
        parameters.add(.since, historyLength)
        parameters.add(.step, TimeText.length(interval))
        for dimension in [Dimension.service, .instance] { parameters.add(.by, dimension.rawValue) }
        parameters.add(senders.map { (dimension: .instance, value: $0.instance) })
        return parameters
    }
}

// MARK: Sentences

extension AwaitedSenders {
    /// A result for each service with awaited senders, that with the oldest data first.
    ///
    /// - Parameter waited: the length of the wait, in nanoseconds.
    package func results(waited: UInt64) -> [CheckResult] {
        let ages = Dictionary(grouping: senders, by: \.service).mapValues { senders in
            (oldest: senders.map(\.reported).min() ?? 0, senders: senders)
        }
        return ages.sorted { ($0.value.oldest, $0.key) < ($1.value.oldest, $1.key) }.map { service, late in
            let age = FigureText.age((now - min(now, late.oldest)) / 1_000_000_000)
            let name = TerminalText.plain(name(of: late.senders, of: service))
            return CheckResult(
                .unknown,
                "The newest data of \(name) \(late.senders.count == 1 ? "is" : "is up to") \(age) old, after a wait of "
                    + "\(FigureText.age(waited / 1_000_000_000)) (--settle).")
        }
    }

    /// `checkout` if no other sender of the service has reported lately; otherwise the late ones, or their number.
    private func name(of late: [Sender], of service: String) -> String {
        guard living[service] ?? 0 > 1 else { return service }
        return late.count == 1
            ? "instance \(late[0].instance) of \(service)" : "\(late.count) instances of \(service)"
    }
}
