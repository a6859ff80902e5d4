import MartletReports
import MartletStorage
import MartletTelemetry

/// The requests of one endpoint, or of any other selection of one kind: when they changed, on whose side, and with which error.
package struct Endpoint: Sendable {
    /// Slots of the charts.
    static let slots: UInt64 = 30
    /// Returns the slots in which the first and the latest failures of a kind are found: as short as a sender's interval in an hour. A
    /// store reads longer windows in few slots, because it has their points in short ones by the ten thousand.
    static func slotsOfTimes(in window: TimeWindow) -> UInt64 { window.seconds <= 6 * 3600 ? 360 : slots }
    /// Kinds of failures that are listed.
    static let maxFailures = 50

    let visit: Visit
    let facts: PageFacts
    /// The side that is shown.
    let kind: RequestKind
    /// Whether the selection has requests of the other side too, so that the side can be chosen.
    let hasBothKinds: Bool
    /// The window of the figures.
    let window: TimeWindow
    let totals: Totals
    /// All requests of the window.
    let requests: RequestGroup
    let windowBefore: WindowName
    /// All requests of the window before, which is as long; `nil` if the store has it too coarsely.
    let before: RequestGroup?
    /// The window that ``before`` is of.
    let timeBefore: TimeWindow?
    let failures: FailureList
    let versions: [EndpointVersion]
    let rules: RulesNotice
    let other: OtherSide
    let traits: [FailureTrait]
    let marks: [TimeMark]
    let heatMap: HeatMap
    /// The kept requests of each cell of the heat map.
    let keptCells: [[Int]]
    let examples: EndpointExamples
    /// `nil` unless the selection is a whole service.
    let processes: ServiceProcesses?
    /// The end of the latest interval with requests before an empty window (``LatestRequest``); `nil` if there is none, or if
    /// the window is not empty.
    let latestBefore: UnixNanoseconds?
    /// The names among which one of an empty selection's is not; `nil` if the store has all of them, or none at all.
    let unknown: EmptyAnswer.Names?
    /// The selection as one row that is compared; `nil` if no endpoint is selected, or the address asks for no comparison.
    let compared: Report?

    /// - Throws: ``ParameterError``, ``TooManyGroups``, or the store's error.
    package init(_ visit: Visit, in storage: some Storage) async throws {
        self.visit = visit
        facts = try await PageFacts(visit, in: storage)
        let wanted: RequestKind? = try visit.parameters.choice(.kind)
        let guess = try EndpointQuestions(visit: visit, kind: wanted ?? .client, window: visit.window)
        var answers = try await storage.statistics([guess.overTime] + guess.all)
        let overTime = try answers.removeFirst().get()
        let kind = wanted ?? (overTime.totals[.client] != nil ? .client : .server)
        self.kind = kind
        hasBothKinds = overTime.totals.count > 1
        window = overTime.window
        totals = Totals(of: kind, in: overTime)
        requests = overTime.totals[kind] ?? RequestGroup(values: [])

        let questions = try EndpointQuestions(visit: visit, kind: kind, window: window)
        if questions.all != guess.all { answers = try await storage.statistics(questions.all) }
        let earlier = questions.comparable(try answers[0].get())
        windowBefore = questions.windowBefore
        before = earlier.map { $0.totals[kind] ?? RequestGroup(values: []) }
        timeBefore = earlier?.window
        failures = FailureList(try answers[1].get(), before: earlier)
        let senders = try answers[2].get()
        traits = FailureTrait.all(of: requests, senders: senders)
        other = try await OtherSide(
            try answers.dropFirst(3).first?.get(), questions, visit.filter.wanted[.service], in: storage)
        let agents = try await storage.agents(seenSince: questions.before.window.from, limit: AgentsReport.maxAgents)
            .agents
        let seen = SeenVersions(agents.filter { questions.environment.matches($0.resource) })
        versions = EndpointVersion.all(of: senders, kind, other.answer, seen)
        rules = RulesNotice(visit, [requests], agents)
        marks = versions.compactMap { version in version.new.map { TimeMark(time: $0, label: version.name) } }
        heatMap = HeatMap(totals.slots.map { $0.group.statistics.duration })
        keptCells = try await storage.cells(questions.cells(of: heatMap, totals.slots))
        examples = try await EndpointExamples(questions.kept, in: storage)
        processes = try await ServiceProcesses(visit, TimeAxis(window, marks: marks), in: storage)
        latestBefore =
            totals.measures == nil ? try await visit.latestRequest(visit.wanted, before: window, in: storage) : nil
        let unknown = totals.measures == nil ? try await EmptyState.unknown(visit, in: storage) : nil
        self.unknown = unknown.flatMap { $0.known.isEmpty ? nil : $0 }
        compared = try await Self.compared(visit, kind, in: storage)
    }

    private static func compared(
        _ visit: Visit, _ kind: RequestKind, in storage: some Storage
    ) async throws -> Report? {
        guard let parameters = comparison(visit, kind) else { return nil }
        var query = try parameters.query(now: visit.now)
        query.step = TrendStep.fitting(visit.window, slots: Self.slots)
        return try await storage.report(query, comparedWith: try parameters.comparison(of: query))
    }

    /// Returns the parameters of the report that compares the selection; `nil` if no endpoint is selected, or the address asks for no
    /// comparison.
    static func comparison(_ visit: Visit, _ kind: RequestKind) -> ReportParameters? {
        guard visit.parameters[.endpoint] != nil, let base = visit.comparison else { return nil }
        var parameters = visit.parameters(
            for: ReportParameter.self, leavingOut: [.kind, .compare, .sort, .ascending, .top])
        parameters.add(.kind, kind.rawValue)
        parameters.add(.by, Dimension.kind.rawValue)
        parameters.add(.compare, base)
        return parameters
    }

    var axis: TimeAxis { TimeAxis(window, marks: marks) }
}
