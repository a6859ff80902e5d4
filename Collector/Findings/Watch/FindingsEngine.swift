import Foundation

/// Finds what happened in a fleet, from the counts of each minute. A value without clock, store or chance: the same minutes
/// give the same findings. Not thread-safe.
///
/// ```swift
/// var engine = FindingsEngine()
/// let questions = engine.tick(minute)          // each minute, in order
/// engine.take(answers)                         // who carries it, from the store
/// let findings = engine.findings(in: slots)
/// ```
///
/// A tick does this:
/// 1. It takes the counts in: ``RowSeries``, ``MinuteHistory``.
/// 2. It refines open episodes and looks for new ones: ``EpisodeTimes``, ``FailureScan``, ``DurationScan``, and the detectors
///    of what is never normal.
/// 3. It makes findings of episodes: ``EpisodeLinks``, ``FindingGroups``, ``SubjectChoice``, ``Carriers``.
package struct FindingsEngine: Sendable {
    private var rows = RowTable(end: 0)
    private var graph = DependencyGraph()
    private var episodes = EpisodeList()
    private var links = EpisodeLinks()
    private var groups = FindingGroups()
    private var processes = ProcessDetector()
    private var memory = MemoryDetector()
    private var wide: Set<String> = []
    private var drafts: [FindingDraft] = []
    /// Findings that were forgotten because they are old, until somebody takes them. Others that are gone have become a part of
    /// another finding.
    var forgotten: [RankedFinding] = []
    /// The first minute that was taken.
    private var first: Minute?
    private var minute: Minute = 0
    private let environment: String?

    /// - Parameter environment: the environment that the findings' commands name; `nil` for none.
    package init(environment: String? = nil) { self.environment = environment }

    /// The first slot with data that are kept.
    var begin: Slot {
        FindingTime.slot(of: max(first ?? minute, minute + 1 - FindingConstants.keptMinutes))
    }
    var now: Slot { FindingTime.slot(of: minute + 1) }

    /// Rows that are not watched, because there are more than the limit.
    package var unwatchedRows: Int { rows.unwatched }

    // MARK: A tick

    /// Takes a minute, later than the last one, and returns what has to be asked for. Minutes without a call are without
    /// requests.
    package mutating func tick(_ fleet: FleetMinute) -> [CarrierQuestion] {
        guard FindingTime.minutes.contains(fleet.minute), first == nil || fleet.minute > minute else { return [] }
        // Minutes before the first data say nothing about what is usual.
        first = first ?? (fleet.isEmpty ? nil : fleet.minute)
        minute = fleet.minute
        rows.advance(to: minute + 1)
        for row in fleet.rows { rows.take(row) }
        graph.learn(fleet.callees, in: fleet.minute)
        graph.update(rows)
        find(fleet)
        draw()
        forget()
        return drafts.flatMap(questions)
    }

    private mutating func find(_ fleet: FleetMinute) {
        let shares = ShareEpisodes(minute: minute, begin: begin, causes: links.causes)
        shares.refine(&episodes, &rows)
        if minute + 1 - FindingTime.minute(of: begin) > FindingConstants.firstMinutes {
            shares.findFailures(&episodes, &rows)
            shares.findSlowness(&episodes, &rows)
        }
        processes.take(fleet, &episodes)
        memory.take(fleet, begin: first ?? minute, &episodes)
        RowEventDetector(minute: minute).look(at: rows, &episodes)
        CallDetector(minute: minute, begin: begin).look(at: rows, &episodes)
        episodes.closeQuiet(now: now)
        let now = now
        episodes.changeEach { $0.excess = $0.excess(in: 0..<now, now: now) }
    }

    /// Draws the findings from the episodes.
    private mutating func draw() {
        links.update(&episodes, rows, &graph, now: now)
        drafts = groups.drafts(episodes, links, rows)
        var choice = SubjectChoice(rows: rows, begin: begin, now: now, wide: wide)
        for index in drafts.indices {
            drafts[index].subject = choice.subject(of: drafts[index], &episodes)
            noteRetries(of: drafts[index])
            setProcessCarriers(of: drafts[index])
        }
        wide = choice.wide.intersection(drafts.map(\.id))
    }

    private mutating func forget() {
        let before = episodes
        let abandoned = before.all.filter(isAbandoned).map(\.number)
        episodes.remove(Set(abandoned))
        // An end may come before the first requests.
        episodes.forget(endedBefore: FindingTime.slot(of: minute + 1 - FindingConstants.keptMinutes))
        let numbers = Set(episodes.all.map(\.number))
        links.forget(except: numbers)
        groups.forget(except: numbers)
        forget(drafts.filter { !numbers.contains($0.main) }, of: before)
        rows.forgetUnused(except: Set(episodes.all.compactMap(\.place.row)))
    }

    private mutating func forget(_ old: [FindingDraft], of all: EpisodeList) {
        guard !old.isEmpty else { return }
        let kept = episodes
        episodes = all
        forgotten += old.compactMap { finding($0, in: 0..<now) }
        episodes = kept
        drafts.removeAll { draft in old.contains { $0.id == draft.id } }
    }

    /// Whether what an episode is about has not been seen in all the time that is kept: it is gone, and the episode with it.
    private func isAbandoned(_ episode: Episode) -> Bool {
        switch episode.place {
        case .row(let index): rows[index].lastUsed <= minute + 1 - FindingConstants.keptMinutes
        case .service: episode.kind == .silent && episode.isOpen && episode.start < begin
        }
    }

    private mutating func noteRetries(of draft: FindingDraft) {
        guard let main = episodes[draft.main], main.kind == .failing, main.retries == nil,
            let row = row(draft.subject, of: main)
        else { return }
        let places = (draft.members + draft.sufferers).compactMap { episodes[$0]?.place }
        let detector = RetryDetector(rows: rows, graph: graph, begin: begin, now: now)
        let retries = detector.retries(of: main, at: row, places)
        episodes.change(draft.main) { $0.retries = retries }
    }

    /// The row of a subject: that of the episode or, of a service's total, the endpoint that was chosen.
    private func row(_ subject: FindingSubject, of episode: Episode) -> Int? {
        if case .endpoint(let index)? = episode.widest { return index }
        return episode.place.row
    }

    // MARK: Who carries it

    private func questions(about draft: FindingDraft) -> [CarrierQuestion] {
        guard let main = episodes[draft.main], main.kind.isShareOfRequests, main.isOpen || !main.isWhoFinal else {
            return []
        }
        return carrierEpisodes(of: draft, main).compactMap { episode in
            question(about: episode, asksForPhases: episode.number == main.number)
        }
    }

    /// The episodes that say who carries a finding: the one of the whole service, if there is one, else the greatest ones.
    private func carrierEpisodes(of draft: FindingDraft, _ main: Episode) -> [Episode] {
        let members = draft.members.compactMap { episodes[$0] }.filter { $0.kind == main.kind }
        let totals = members.filter { $0.place.row.map { rows[$0].row.isTotal } ?? false }
        guard totals.isEmpty else { return totals }
        let others = members.filter { $0.number != main.number }.sorted { $0.excess > $1.excess }
        return ([main] + others.prefix(FindingConstants.carrierEpisodes - 1)).sorted { $0.number < $1.number }
    }

    private func question(about episode: Episode, asksForPhases: Bool) -> CarrierQuestion? {
        guard let index = episode.place.row, let bad = episode.bad else { return nil }
        let slots = episode.slots(until: now)
        let asks = asksForPhases && episode.kind == .slow && rows[index].row.kind == .client
        return CarrierQuestion(
            episode: episode.number, row: rows[index].row, slots: slots, bad: bad,
            reference: asks ? reference(of: slots) : nil)
    }

    /// The hour before, or the time after if there is no time before.
    private func reference(of slots: Range<Slot>) -> Range<Slot> {
        slots.lowerBound > begin + FindingTime.slotsOfMinute
            ? max(begin, slots.lowerBound - 360)..<slots.lowerBound : slots.upperBound..<max(slots.upperBound, now)
    }

    /// Takes the answers to the last tick's questions. A question without an answer leaves open who carries it.
    package mutating func take(_ answers: [CarrierAnswer]) {
        let answers = Dictionary(answers.map { ($0.episode, $0) }) { first, _ in first }
        for draft in drafts {
            let asked = questions(about: draft)
            guard !asked.isEmpty, asked.contains(where: { answers[$0.episode] != nil }) else { continue }
            let who = carriers(asked.compactMap { answers[$0.episode] })
            let side = side(of: draft.main, answers[draft.main])
            let what = answers[draft.main]?.forms ?? []
            episodes.change(draft.main) {
                ($0.who, $0.side) = (who, side)
                $0.what = Array(what.sorted { ($1.count, $0.value) < ($0.count, $1.value) }.prefix(5))
                $0.isWhoFinal = !$0.isOpen
            }
        }
    }

    private func carriers(_ answers: [CarrierAnswer]) -> [FindingCarrier] {
        var carriers = Carriers()
        for answer in answers {
            guard let episode = episodes[answer.episode], let index = episode.place.row else { continue }
            carriers.add(answer, of: rows[index].row, usual: episode.usualShare)
            guard episode.kind == .failing else { continue }
            for caller in graph.callers(of: index) {
                let share = rows[caller].share(ofFailuresIn: episode.slots(until: now))
                carriers.add(caller: rows[caller].row.service, share, usual: episode.usualShare)
            }
        }
        return carriers.carriers()
    }

    private func side(of number: Int, _ answer: CarrierAnswer?) -> Finding.Side? {
        guard let episode = episodes[number], episode.kind == .slow, let index = episode.place.row else { return nil }
        if rows[index].row.kind == .server { return .server }
        guard let during = answer?.during, let before = answer?.before else { return episode.side }
        return during.grownSide(since: before, isServerKnown: graph.target(of: index) != nil)
    }

    private mutating func setProcessCarriers(of draft: FindingDraft) {
        guard let main = episodes[draft.main], !main.kind.isShareOfRequests, main.isOpen || !main.isWhoFinal else {
            return
        }
        let who = main.carriersOfProcesses(processes.lastSeen)
        episodes.change(draft.main) { ($0.who, $0.isWhoFinal) = (who, !$0.isOpen) }
    }

    // MARK: Findings

    /// Returns the findings that reach into some slots, the most expensive first, and at most ten. `count` is the number of
    /// all.
    package func findings(in window: Range<Slot>) -> (findings: [Finding], count: Int) {
        let all = ranked(in: window)
        return (all.prefix(FindingConstants.findings).map(\.finding), all.count)
    }

    /// Returns all findings that reach into some slots, the most expensive first.
    func ranked(in window: Range<Slot>) -> [RankedFinding] {
        RankedFinding.sorted(drafts.compactMap { finding($0, in: window) })
    }

    private func finding(_ draft: FindingDraft, in window: Range<Slot>) -> RankedFinding? {
        guard let main = episodes[draft.main], main.began < window.upperBound,
            main.end.map({ $0 > window.lowerBound }) ?? true
        else { return nil }
        let members = draft.members.compactMap { episodes[$0] }
        let sufferers = draft.sufferers.compactMap { episodes[$0] }
        let costs = FindingCosts(rows: rows, now: now, window: window)
        let cost = costs.cost(main, members, sufferers)
        let also = (members.filter { $0.number != main.number } + sufferers).compactMap { $0.place.row }
        var finding = FindingAssembly(rows: rows, begin: begin, now: now, environment: environment).finding(
            draft, main, cost, also: also.map { rows[$0].row.subject })
        finding.deployment = processes.deployment(of: finding)
        return RankedFinding(finding: finding, began: main.began, rank: costs.rank(cost, members, sufferers))
    }
}

/// A finding with what it is ordered by.
struct RankedFinding: Sendable {
    var finding: Finding
    /// Its first slot as far as is known, even if ``Finding/since`` does not name it.
    var began: Slot
    /// What it costs people.
    var rank: Double

    /// Whether it reaches into some slots.
    func reaches(into window: Range<Slot>) -> Bool {
        began < window.upperBound && finding.until.map { $0 > window.lowerBound } ?? true
    }

    /// Returns the findings with the most expensive first, and equal ones in their order.
    static func sorted(_ findings: [RankedFinding]) -> [RankedFinding] {
        findings.enumerated().sorted { ($1.element.rank, $0.offset) < ($0.element.rank, $1.offset) }.map(\.element)
    }
}

extension Episode {
    /// Which requests are bad.
    fileprivate var bad: CarrierQuestion.Bad? {
        switch kind {
        case .failing: .failed
        case .slow: .slower(bucket: bucket)
        case .newError: status.map { .status($0) }
        default: nil
        }
    }
}
