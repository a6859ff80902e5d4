import MartletStorage
import MartletTelemetry

/// An environment with its detector.
struct WatchedFleet {
    /// The time over which the cost of reading all minutes again is added up.
    private static let watchedTime: Duration = .seconds(600)

    private var engine: FindingsEngine
    private var kept = KeptFindings()
    private let environment: String
    /// The last minute that was taken.
    private var last: Minute?
    /// The last minute in which a sender was seen.
    var lastSeen: Minute = 0
    /// Whether the last three hours were taken, so that findings have the ids under which they are kept.
    private var isReady = false
    /// The findings from before the minutes were forgotten, until the minutes are read again; `nil` if none were forgotten.
    private var before: [RankedFinding]?
    private var losses = LedgerLosses()
    /// When the minutes were read from the first one on, in the last ten minutes, and how long each time took.
    private var readings: [(end: ContinuousClock.Instant, duration: Duration)] = []

    /// - Parameter environment: its name; empty for senders without one.
    init(of environment: String) {
        self.environment = environment
        engine = Self.engine(of: environment)
    }

    private static func engine(of environment: String) -> FindingsEngine {
        FindingsEngine(environment: environment.isEmpty ? nil : environment)
    }

    /// Whether no minute was taken yet.
    var isNew: Bool { last == nil }

    /// Whether no sender was seen for so long that the detector has forgotten everything.
    func isIdle(in minute: Minute) -> Bool { minute - lastSeen > FindingConstants.keptMinutes + 10 }

    /// Returns the first minute that was not taken yet.
    func next(from begin: Minute) -> Minute { max(begin, last.map { $0 + 1 } ?? begin) }

    // MARK: Late points

    /// Whether all minutes may be read again: that takes at most a thirtieth of the time.
    var mayRestart: Bool {
        let recent = readings.filter { ContinuousClock.now - $0.end <= Self.watchedTime }
        return isReady && recent.reduce(.zero) { $0 + $1.duration } < Self.watchedTime / 30
    }

    /// Forgets the minutes that were taken, because more is known of them now.
    mutating func restart() {
        before = findings(in: 0..<Slot.max)
        (engine, losses, last, isReady) = (Self.engine(of: environment), LedgerLosses(), nil, false)
        kept.restart()
    }

    // MARK: A tick

    /// Takes the findings that the store has of the time that is about to be read.
    mutating func restore(_ records: [FindingRecord]) { kept.restore(records) }

    /// Takes minutes, and returns the questions of the last one.
    mutating func play(_ minutes: [FleetMinute]) -> [CarrierQuestion] {
        var questions: [CarrierQuestion] = []
        for var minute in minutes {
            minute.losses = losses.growth(minute)
            questions = engine.tick(minute)
            last = minute.minute
        }
        return questions
    }

    /// Takes the answers to the questions of the latest minute.
    ///
    /// - Parameter start: when the first minute that was not taken before began to be read.
    mutating func take(_ answers: [CarrierAnswer], since start: ContinuousClock.Instant) {
        engine.take(answers)
        kept.recognize(engine.ranked(in: 0..<engine.now) + engine.forgotten)
        if before != nil { kept.disown(since: engine.now - FindingConstants.corrected) }
        if !isReady { noteReading(since: start) }
        (isReady, before) = (true, nil)
    }

    private mutating func noteReading(since start: ContinuousClock.Instant) {
        let now = ContinuousClock.now
        readings.removeAll { now - $0.end > Self.watchedTime }
        readings.append((now, now - start))
    }

    /// The changes that have to be stored.
    var changes: KeptFindings.Changes {
        kept.changes(found(in: 0..<engine.now), engine.forgotten.map(named), now: engine.now)
    }

    /// Notes that changes are stored.
    mutating func note(_ changes: KeptFindings.Changes) {
        kept.note(changes)
        engine.forgotten = []
    }

    // MARK: Findings

    /// The number of open findings of each kind.
    var openFindings: [FindingKind: Int] {
        findings(in: 0..<Slot.max).map(\.finding).filter(\.isOpen).reduce(into: [:]) {
            $0[$1.kind, default: 0] += 1
        }
    }

    /// Returns the findings that reach into some slots, as far as they are remembered.
    func findings(in slots: Range<Slot>) -> [RankedFinding] {
        isReady ? found(in: slots) + kept.earlier(in: slots) : (before ?? []).filter { $0.reaches(into: slots) }
    }

    /// Returns why a kept finding is not found any more.
    func removal(of removed: RankedFinding) -> WatchedFinding.Removal {
        let others = found(in: removed.began..<Slot.max).map(\.finding).filter { $0.concerns(removed.finding.subject) }
        return others.first.map { .part(of: $0.title) } ?? .withdrawn
    }

    private func found(in slots: Range<Slot>) -> [RankedFinding] {
        engine.ranked(in: slots).map(named)
    }

    private func named(_ found: RankedFinding) -> RankedFinding { kept.named(found, begin: engine.begin) }
}

extension Finding {
    /// Whether it is about a subject, or names it as something that suffers.
    fileprivate func concerns(_ other: FindingSubject) -> Bool { subject == other || also.contains(other) }
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
        // An older process may have lost requests before its first report in this time. They are not new.
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
