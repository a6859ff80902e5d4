import ArgumentParser
import MartletFindings
import MartletReports
import MartletStorage
import MartletTelemetry

struct Check: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract:
            """
            Checks limits in a pipeline. Exit status: 0 all met, 1 exceeded, 2 not enough data or data too old, 3 no collector \
            answers.
            """,
        discussion: TimeExpression.help)

    @OptionGroup var source: SourceOptions

    @OptionGroup var selection: SelectionOptions

    @Option(help: "Maximum share of failed requests of each endpoint, such as 1%.")
    var maxFailureRate: String?

    @Option(help: "Maximum p99 (99th percentile) of each endpoint's durations, such as 800ms or 1.5s.")
    var maxP99: String?

    @Option(
        help: """
            Objective: the share of requests that must succeed, such as 99.9%. It is exceeded if failures use up the error \
            budget too fast, both in a long window and in a short one at its end.
            """)
    var slo: String?

    @Option(
        help: """
            No endpoint may be worse, compared with: previous (the window before), day, week, a length of time earlier such as \
            2h, or version:A..B.
            """,
        completion: .list(ComparisonBase.words))
    var compare: String?

    @Option(
        help: ArgumentHelp(
            """
            Nothing of these kinds may have happened in the window: \(FindingsCheck.all), or some of \
            \(FindingsCommand.kinds.joined(separator: ", ")), separated by commas.
            """,
            valueName: "kinds"),
        completion: .list([FindingsCheck.all] + FindingsCommand.kinds))
    var noFindings: String?

    @Option(
        help: """
            How long to wait at most until every sender has reported up to the window's end, such as 15s; 0 takes the data as \
            they are.
            """)
    var settle = "15s"

    @OptionGroup var color: ColorOption

    func run() async throws {
        let (text, outcome) = try await answered { try await reportingFailure { try await answer() } }
        try Output.answer(text)
        switch outcome {
        case .holds: break
        case .fails: throw ExitCode.failure
        case .unknown: throw ExitCode.unavailable
        }
    }

    /// Runs `body`. If it cannot get an answer, the exit code says so.
    private func answered<Answer>(_ body: () async throws -> Answer) async throws -> Answer {
        do {
            return try await body()
        } catch let code as ExitCode where code == .unavailable {
            throw ExitCode.unanswered
        }
    }

    private func answer() async throws -> (text: String, outcome: CheckResult.Outcome) {
        let limits = try limits
        let findingsCheck = try noFindings.map { try FindingsCheck($0) }
        let late = try await settleWait.lateSenders(in: parameters, selected.filters)
        let report = try await source.report(parameters)
        let found = try await findings(findingsCheck)
        guard !report.rows.isEmpty else { return withoutRequests(report, found, late) }
        let unknown = report.unknownNames ?? []
        let results =
            try await limits.results(for: report) + burnRates(limits.burnRate, until: report.to) + found
            + unknown.map { CheckResult(.unknown, $0.sentence + ".") } + late
        let (device, outcome) = (color.device, CheckResult.outcome(of: results))
        var text = results.map { $0.line(on: device) }.joined()
        if unknown.isEmpty, report.compare != nil, outcome != .holds {
            text += NextCommand.again(report, parameters.flags + source.flags, on: device)
        }
        return (text, outcome)
    }

    /// Returns the answer for a report without rows, which explains why it has none, as the command `report` does. No limit is
    /// known to be met then, but what happened may be the reason.
    private func withoutRequests(
        _ report: Report, _ found: [CheckResult], _ late: [CheckResult]
    ) -> (text: String, outcome: CheckResult.Outcome) {
        var context = ReportContext()
        context.flags = parameters.flags + source.flags
        let sentence = NoResultsText.sentence(of: report, context).dropLast()
        let results = [CheckResult(.unknown, String(sentence))] + found.filter { $0.outcome == .fails } + late
        return (results.map { $0.line(on: color.device) }.joined(), CheckResult.outcome(of: results))
    }

    private func findings(_ check: FindingsCheck?) async throws -> [CheckResult] {
        guard let check else { return [] }
        let findings = SelectedFindings(source: source, selection: selection, compare: compare)
        return check.results(for: try await findings.report(of: check.kinds))
    }

    /// Queries the burn-rate windows of an objective. They end when the report ends, by the collector's clock.
    private func burnRates(_ check: BurnRateCheck?, until end: String) async throws -> [CheckResult] {
        guard let check, let end = TimeText.parse(end, now: 0) else { return [] }
        let windows = check.windows(endingAt: end)
        return check.results(long: try await totals(windows.long), short: try await totals(windows.short))
    }

    private func totals(_ window: TimeWindow) async throws -> Report {
        var parameters = ReportParameters()
        parameters.add(.since, TimeText.exact(window.from))
        parameters.add(.until, TimeText.exact(window.to))
        let versions = ComparisonBase.versions(in: compare)
        for (name, value) in selected.values where ![.since, .until].contains(name) {
            if name != .version || versions == nil { parameters.add(name, value) }
        }
        // In a comparison of versions, the rows are those of the later version.
        parameters.add(.version, versions?.after)
        parameters.add(.by, Dimension.kind.rawValue)
        return try await source.report(parameters)
    }

    private var limits: CheckLimits {
        get throws {
            let window = try parameters.query(now: SystemClock.now()).window
            return try CheckLimits(
                maxFailureRate: maxFailureRate, maxP99: maxP99, objective: slo, isCompared: compare != nil,
                hasOthers: noFindings != nil, window: window)
        }
    }

    private var settleWait: SettleWait {
        get throws {
            guard let limit = settle == "0" ? 0 : TimeText.nanoseconds(settle) else {
                throw ParameterError("settle must be a length of time with its unit, such as 15s, or 0")
            }
            return SettleWait(source: source, limit: limit)
        }
    }

    private var selected: ReportParameters {
        var parameters = ReportParameters()
        selection.add(to: &parameters)
        return parameters
    }

    private var parameters: ReportParameters {
        var parameters = selected
        parameters.add(.compare, compare)
        return parameters
    }
}

/// The wait of `check` for data that are still on their way.
struct SettleWait {
    /// The time between two looks at the senders.
    private static let pause = Duration.milliseconds(500)

    let source: SourceOptions
    /// The longest wait, in nanoseconds.
    let limit: UInt64

    /// Waits until all senders have reported up to the window's end. Returns a result for each service that has not.
    func lateSenders(in window: ReportParameters, _ filters: [FilterValue]) async throws -> [CheckResult] {
        guard limit > 0 else { return [] }
        let list = try AwaitedSenders.list(filters)
        var awaited = try AwaitedSenders(try await source.agents(list)) { try window.query(now: $0).window.to }
        let deadline = ContinuousClock.now + .nanoseconds(limit)
        while !awaited.senders.isEmpty, ContinuousClock.now < deadline {
            try await Task.sleep(until: min(deadline, .now + Self.pause))
            awaited.look(at: try await source.agents(list))
        }
        awaited.removeIdle(try await histories(of: awaited.senders))
        return awaited.results(waited: limit)
    }

    private func histories(of senders: [AwaitedSenders.Sender]) async throws -> [Report] {
        var histories: [Report] = []
        for start in stride(from: 0, to: senders.count, by: AwaitedSenders.maxInHistory) {
            let some = senders[start...].prefix(AwaitedSenders.maxInHistory)
            histories.append(try await source.report(AwaitedSenders.history(of: some)))
        }
        return histories
    }
}
