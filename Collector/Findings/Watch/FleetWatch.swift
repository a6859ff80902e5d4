import MartletStorage
import MartletTelemetry

/// Watches a store: once a minute it reads the counts of the minute that has ended, and finds what happened in each environment.
/// Safe to use from any task, but only one task may call ``tick(now:)`` at a time.
///
/// Findings are kept in memory only. After a start, those of the last three hours are found again.
package actor FleetWatch {
    /// The environments that are watched at most: those that were seen most recently when they were found.
    package static let environments = 16
    /// How long after a minute's end it is read, in nanoseconds. Most points have arrived by then.
    private static let delay: UnixNanoseconds = 10_000_000_000
    private static let minute: UnixNanoseconds = 60_000_000_000
    /// Row-minutes that are read at once: six slots of each are fewer than a store allows.
    private static let rowMinutes = 3_000
    /// Minutes that are read at once, at most, and minutes before the new ones that are read again, because points come late.
    private static let portion = 15, again = 2

    private let reading: FleetReading
    /// The fleets by the name of their environment; empty for senders without one.
    private var fleets: [String: WatchedFleet] = [:]
    /// The minute that the first tick began with, and the last one of the latest tick that was finished.
    private var first: Minute?
    private var last: Minute?
    private var isReading = false

    package init(of storage: some Storage) {
        reading = FleetReading(storage: storage)
    }

    /// Returns the time in nanoseconds until the next minute can be read.
    package static func timeToNextTick(now: UnixNanoseconds) -> UnixNanoseconds {
        minute - (now - min(now, delay)) % minute
    }

    /// Returns the time of the tick whose last minute is the last one that ended within a window.
    package static func timeOfTick(for window: TimeWindow) -> UnixNanoseconds { window.to.adding(delay) }

    // MARK: A tick

    /// Reads the minutes that have ended since the last tick, or those of the last three hours. Throws if the store cannot be
    /// read; then the next tick reads the rest.
    package func tick(now: UnixNanoseconds) async throws {
        let latest = Self.lastEnded(now)
        guard latest > last ?? -1, !isReading else { return }
        isReading = true
        defer { isReading = false }
        let begin = max(0, latest + 1 - FindingConstants.keptMinutes)
        first = first ?? begin
        let next = fleets.values.filter { !$0.isIdle(in: latest) }.map { $0.next(from: begin) }.min() ?? begin
        let agents = try await reading.agents(since: next - 1)
        let senders = Dictionary(grouping: agents) { $0.resource.environment ?? "" }
        for agent in agents { meet(agent.resource.environment ?? "", latest) }
        for environment in fleets.filter({ !$0.value.isIdle(in: latest) }).keys.sorted() {
            try await play(environment, from: begin, to: latest, senders[environment] ?? [])
        }
        last = latest
    }

    /// Reads the last three hours of environments that have begun to send since the last tick, so that they have findings before the
    /// next one. Does nothing while minutes are read.
    package func meetNew(now: UnixNanoseconds) async throws {
        let latest = Self.lastEnded(now)
        let room = Self.environments - fleets.count
        guard last != nil, room > 0, !isReading else { return }
        isReading = true
        defer { isReading = false }
        let begin = max(0, latest + 1 - FindingConstants.keptMinutes)
        let new = try await reading.environments(in: begin...latest, limit: Self.environments).filter {
            fleets[$0] == nil
        }
        guard !new.isEmpty else { return }
        let senders = Dictionary(grouping: try await reading.agents(since: begin)) { $0.resource.environment ?? "" }
        for environment in new.prefix(room) {
            meet(environment, latest)
            try await play(environment, from: begin, to: latest, senders[environment] ?? [])
        }
    }

    /// Returns the last minute that has ended so long ago that most of its points have arrived.
    private static func lastEnded(_ now: UnixNanoseconds) -> Minute {
        Minute(clamping: (now - min(now, delay)) / minute) - 1
    }

    /// Watches an environment that was just seen. If there are too many, it takes the place of an idle one.
    private func meet(_ environment: String, _ latest: Minute) {
        if fleets[environment] == nil, fleets.count >= Self.environments {
            let idle = fleets.filter { $0.value.isIdle(in: latest) }.min { $0.value.lastSeen < $1.value.lastSeen }
            guard let idle else { return }
            fleets[idle.key] = nil
        }
        fleets[environment, default: WatchedFleet(of: environment)].lastSeen = latest
    }

    /// Plays the minutes of an environment that have ended, in portions so that no answer of the store is too large.
    private func play(
        _ environment: String, from begin: Minute, to latest: Minute, _ agents: [AgentRecord]
    ) async throws {
        var (portion, again) = (1, Self.again)
        var questions: [CarrierQuestion] = []
        while let next = fleets[environment]?.next(from: begin), next <= latest {
            let minutes = next...min(next + portion - 1, latest)
            let read = try await reading.minutes(minutes, of: environment, agents, latest: latest, again: again)
            questions = fleets[environment]?.play(read, agents, latest: latest) ?? []
            let rows = read.reduce(0) { $0 + $1.rows.count } / (minutes.count + again)
            portion = max(1, min(Self.portion, Self.rowMinutes / max(rows, 1)))
            again = 0
        }
        let answers = try await reading.answers(to: questions, in: environment)
        fleets[environment]?.take(answers)
    }

    // MARK: Questions

    /// Returns all findings that are remembered, as of the last tick: those that go on, and those that ended.
    package func present() -> [WatchedFinding] {
        fleets.sorted { $0.key < $1.key }.flatMap { environment, fleet in
            fleet.findings(in: 0..<Slot.max).map {
                WatchedFinding(environment: environment.isEmpty ? nil : environment, $0.finding)
            }
        }
    }

    /// Returns the findings of a window, as of the last tick.
    package func findings(_ question: FindingsQuestion) -> FindingsAnswer {
        let slots = FindingTime.slots(question.window)
        let asked = fleets.filter { question.selects(environment: $0.key) }.sorted { $0.key < $1.key }.map(\.value)
        let found = RankedFinding.sorted(asked.flatMap { $0.findings(in: slots) }).map(\.finding)
            .filter(question.selects)
        return FindingsAnswer(
            findings: Array(found.prefix(FindingConstants.findings)), count: found.count,
            quietSince: quietSince(asked, question, before: slots.upperBound), isComplete: isComplete(slots))
    }

    /// Whether everything that a window's findings come from was read.
    private func isComplete(_ slots: Range<Slot>) -> Bool {
        guard let first, last != nil else { return false }
        return slots.lowerBound >= FindingTime.slot(of: first)
    }

    /// Returns the end of the last finding that began before a slot, if it ended before it.
    private func quietSince(
        _ fleets: [WatchedFleet], _ question: FindingsQuestion, before end: Slot
    ) -> UnixNanoseconds? {
        let known = fleets.flatMap { $0.findings(in: 0..<end) }.filter { question.selects($0.finding) }
        let ends = known.map { $0.finding.until ?? .max }
        guard let last = ends.max(), last <= end else { return nil }
        return FindingTime.time(last)
    }
}

/// A finding with its environment.
package struct WatchedFinding: Sendable, Equatable {
    /// `nil` for senders without one.
    package var environment: String?
    package var finding: Finding

    package init(environment: String?, _ finding: Finding) {
        (self.environment, self.finding) = (environment, finding)
    }
}

/// An environment with its detector.
private struct WatchedFleet {
    /// Findings that are remembered at most after the detector has forgotten them; the oldest are forgotten first.
    private static let past = 1_000

    private var engine: FindingsEngine
    /// The last minute that was taken.
    private var last: Minute?
    /// The last minute in which a sender was seen.
    var lastSeen: Minute = 0
    /// The findings of the last minute, and those that ended before what the detector keeps.
    private var present: [RankedFinding] = []
    private var past: [RankedFinding] = []
    private var losses = LedgerLosses()

    /// - Parameter environment: its name; empty for senders without one.
    init(of environment: String) { engine = FindingsEngine(environment: environment.isEmpty ? nil : environment) }

    /// Whether no sender was seen for so long that the detector has forgotten everything. Only findings of the past are left.
    func isIdle(in minute: Minute) -> Bool { minute - lastSeen > FindingConstants.keptMinutes + 10 }

    /// Returns the first minute that was not taken yet.
    func next(from begin: Minute) -> Minute { max(begin, last.map { $0 + 1 } ?? begin) }

    /// Takes minutes, and returns the questions of the last one.
    mutating func play(_ minutes: [FleetMinute], _ agents: [AgentRecord], latest: Minute) -> [CarrierQuestion] {
        var questions: [CarrierQuestion] = []
        for var minute in minutes {
            if minute.minute == latest { minute.losses = losses.growth(agents, in: latest) }
            questions = engine.tick(minute)
            last = minute.minute
        }
        remember()
        return questions
    }

    mutating func take(_ answers: [CarrierAnswer]) {
        engine.take(answers)
        remember()
    }

    /// Keeps findings that the detector is about to forget. Others that are gone have become a part of another finding.
    private mutating func remember() {
        let begin = FindingTime.slot(of: (last ?? 0) + 1 - FindingConstants.keptMinutes)
        let all = engine.ranked(in: 0..<FindingTime.slot(of: (last ?? 0) + 1))
        let known = Set(all.map(\.finding.id))
        past += present.filter { found in
            !known.contains(found.finding.id) && found.finding.until.map { $0 <= begin } ?? false
        }
        past.removeFirst(max(0, past.count - Self.past))
        present = all
    }

    /// Returns the findings that reach into some slots.
    func findings(in slots: Range<Slot>) -> [RankedFinding] {
        engine.ranked(in: slots) + past.filter { $0.reaches(into: slots) }
    }
}

/// The requests that processes said they lost.
private struct LedgerLosses {
    /// Senders that are remembered at most.
    private static let senders = 20_000

    /// The lost requests of each process so far.
    private var lost: [ProcessIdentity: UInt64] = [:]
    /// The minute of the last look.
    private var last: Minute?

    /// Returns what the processes lost since the last look. At the first one nothing is known to be new.
    mutating func growth(_ agents: [AgentRecord], in minute: Minute) -> [LostRequests] {
        var growth: [String: UInt64] = [:]
        for agent in agents {
            guard let ledger = agent.ledger else { continue }
            let process = ProcessIdentity(agent)
            let sum = ledger.dropped.values.reduce(0 as UInt64) { $0.adding($1) }
            let before: UInt64 = lost[process] ?? (isNew(agent) ? 0 : sum)
            if sum > before {
                growth[process.service, default: 0] = (growth[process.service] ?? 0).adding(sum - before)
            }
            lost[process] = max(sum, before)
        }
        forget(except: agents)
        last = minute
        let slot = FindingTime.slot(of: minute + 1) - 1
        return growth.sorted { $0.key < $1.key }.map { LostRequests(service: $0.key, slot: slot, count: $0.value) }
    }

    /// Whether a sender was first seen after the last look.
    private func isNew(_ agent: AgentRecord) -> Bool {
        last.map { FindingTime.slot(at: agent.firstSeen) >= FindingTime.slot(of: $0 + 1) } ?? false
    }

    private mutating func forget(except agents: [AgentRecord]) {
        guard lost.count > Self.senders else { return }
        let present = Set(agents.map(ProcessIdentity.init))
        lost = lost.filter { present.contains($0.key) }
    }
}
