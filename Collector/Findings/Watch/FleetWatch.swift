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
    private let late: LateArrivals
    /// The fleets by the name of their environment; empty for senders without one.
    private var fleets: [String: WatchedFleet] = [:]
    /// The minute that the first tick began with, and the last one of the latest tick that was finished.
    private var first: Minute?
    private var last: Minute?
    private var isReading = false

    /// - Parameter late: what the store notes of points that come late.
    package init(of storage: some Storage, late: LateArrivals = LateArrivals()) {
        reading = FleetReading(storage: storage)
        self.late = late
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
        late.expect(from: latest + 1 - Self.again)
        let new = max(begin, last.map { $0 + 1 } ?? begin)...latest
        for environment in try await reading.environments(in: new, limit: Self.environments) {
            meet(environment, latest)
        }
        forgetLate()
        for environment in fleets.filter({ !$0.value.isIdle(in: latest) }).keys.sorted() {
            try await play(environment, from: begin, to: latest)
        }
        last = latest
    }

    /// Reads the last three hours of environments that have begun to send since the last tick, and of those with late points, so that
    /// their findings are right before the next tick. Does nothing while minutes are read.
    package func catchUp(now: UnixNanoseconds) async throws {
        let latest = Self.lastEnded(now)
        guard last != nil, !isReading else { return }
        isReading = true
        defer { isReading = false }
        let begin = max(0, latest + 1 - FindingConstants.keptMinutes)
        var wanted = forgetLate()
        if fleets.count < Self.environments {
            let found = try await reading.environments(in: begin...latest, limit: Self.environments)
            let new = found.filter { fleets[$0] == nil }.prefix(Self.environments - fleets.count)
            for environment in new { meet(environment, latest) }
            wanted.formUnion(new)
        }
        for environment in wanted.sorted() { try await play(environment, from: begin, to: latest) }
    }

    /// Forgets what was read of environments with late points, and returns their names. Those that were read again often have to wait.
    @discardableResult
    private func forgetLate() -> Set<String> {
        let late = self.late.environments.filter { fleets[$0]?.mayRestart ?? false }
        for environment in late { fleets[environment]?.restart() }
        return late
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
    private func play(_ environment: String, from begin: Minute, to latest: Minute) async throws {
        var (portion, again) = (1, Self.again)
        var questions: [CarrierQuestion] = []
        let start = ContinuousClock.now
        if fleets[environment]?.isReadFromStart ?? false { late.forget(environment) }
        while let next = fleets[environment]?.next(from: begin), next <= latest {
            let minutes = next...min(next + portion - 1, latest)
            let read = try await reading.minutes(minutes, of: environment, again: again)
            questions = fleets[environment]?.play(read) ?? []
            let rows = read.reduce(0) { $0 + $1.rows.count } / (minutes.count + again)
            portion = max(1, min(Self.portion, Self.rowMinutes / max(rows, 1)))
            again = 0
        }
        let answers = try await reading.answers(to: questions, in: environment)
        fleets[environment]?.take(answers)
        fleets[environment]?.noteRead(since: start)
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

    /// Returns the number of open findings of each kind as of the last tick, by environment: empty for senders without one.
    package func openFindings() -> [String: [FindingKind: Int]] {
        fleets.filter { !$0.value.isIdle(in: last ?? 0) }.mapValues(\.openFindings)
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
    /// The time over which the cost of reading all minutes again is added up.
    private static let watchedTime: Duration = .seconds(600)

    private var engine: FindingsEngine
    /// The last minute that was taken.
    private var last: Minute?
    /// The last minute in which a sender was seen.
    var lastSeen: Minute = 0
    /// The findings of the last minute, and those that ended before what the detector keeps.
    private var present: [RankedFinding] = []
    private var past: [RankedFinding] = []
    private var losses = LedgerLosses()
    /// When the minutes were read from the first one on, in the last ten minutes, and how long each time took.
    private var readings: [(end: ContinuousClock.Instant, duration: Duration)] = []
    private(set) var isReadFromStart = true
    private let environment: String

    /// - Parameter environment: its name; empty for senders without one.
    init(of environment: String) {
        self.environment = environment
        engine = Self.engine(of: environment)
    }

    private static func engine(of environment: String) -> FindingsEngine {
        FindingsEngine(environment: environment.isEmpty ? nil : environment)
    }

    /// Whether all minutes may be read again: that takes at most a thirtieth of the time.
    var mayRestart: Bool {
        let recent = readings.filter { ContinuousClock.now - $0.end <= Self.watchedTime }
        return !isReadFromStart && recent.reduce(.zero) { $0 + $1.duration } < Self.watchedTime / 30
    }

    /// Forgets the minutes that were taken, but not the findings of the past.
    mutating func restart() {
        (engine, losses, last) = (Self.engine(of: environment), LedgerLosses(), nil)
        isReadFromStart = true
    }

    /// Notes that all minutes were taken that have ended.
    mutating func noteRead(since start: ContinuousClock.Instant) {
        guard isReadFromStart else { return }
        isReadFromStart = false
        let now = ContinuousClock.now
        readings.removeAll { now - $0.end > Self.watchedTime }
        readings.append((now, now - start))
    }

    /// Whether no sender was seen for so long that the detector has forgotten everything. Only findings of the past are left.
    func isIdle(in minute: Minute) -> Bool { minute - lastSeen > FindingConstants.keptMinutes + 10 }

    /// Returns the first minute that was not taken yet.
    func next(from begin: Minute) -> Minute { max(begin, last.map { $0 + 1 } ?? begin) }

    /// Takes minutes, and returns the questions of the last one.
    mutating func play(_ minutes: [FleetMinute]) -> [CarrierQuestion] {
        var questions: [CarrierQuestion] = []
        for var minute in minutes {
            minute.losses = losses.growth(minute)
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

    /// The number of open findings of each kind.
    var openFindings: [FindingKind: Int] {
        let end = FindingTime.slot(of: (last ?? 0) + 1)
        return findings(in: end - 1..<end).map(\.finding).filter(\.isOpen).reduce(into: [:]) {
            $0[$1.kind, default: 0] += 1
        }
    }

    /// Returns the findings that reach into some slots.
    func findings(in slots: Range<Slot>) -> [RankedFinding] {
        engine.ranked(in: slots) + past.filter { $0.reaches(into: slots) }
    }
}

/// The requests that processes said they lost.
private struct LedgerLosses {
    /// Processes that are remembered at most. Losses of others are not found.
    private static let processes = 20_000

    /// The lost requests of each process so far, and the minute of its last report.
    private var lost: [ProcessIdentity: (requests: UInt64, minute: Minute)] = [:]
    /// The first minute of all.
    private var first: Minute?

    /// Returns what the processes have lost since their last reports.
    mutating func growth(_ minute: FleetMinute) -> [LostRequests] {
        first = first ?? minute.minute
        let losses = minute.processes.compactMap { growth($0, in: minute.minute) }
        if lost.count >= Self.processes {
            lost = lost.filter { $0.value.minute > minute.minute - FindingConstants.keptMinutes }
        }
        return losses
    }

    private mutating func growth(_ report: ReportedProcess, in minute: Minute) -> LostRequests? {
        let known = lost[report.process]?.requests
        guard let reading = report.losses, known != nil || lost.count < Self.processes else { return nil }
        // What an older process had lost before its first report in this time is not new.
        let before = known ?? (isNew(reading) ? 0 : reading.requests)
        lost[report.process] = (max(before, reading.requests), minute)
        guard reading.requests > before else { return nil }
        let slot = FindingTime.slot(at: max(reading.time, 1) - 1)
        return LostRequests(service: report.process.service, slot: slot, count: reading.requests - before)
    }

    /// Whether a process began after the first minute.
    private func isNew(_ reading: LossReading) -> Bool {
        guard let first, reading.age > 0, reading.age < reading.time else { return false }
        return reading.time - reading.age >= FindingTime.time(FindingTime.slot(of: first))
    }
}
