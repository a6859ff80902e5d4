import MartletStorage
import MartletTelemetry

/// Watches a store: once a minute it reads the counts of the minute that has ended, and finds what happened in each environment.
/// Safe to use from any task, but only one task may call ``tick(now:)`` at a time.
///
/// The store keeps what was found. Of several collectors on one store, one computes findings (``Storage/leaseFindings(to:seconds:)``),
/// and the others answer from what it stored.
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
    /// The seconds for which a tick takes the lease: two ticks and a half, so that one late tick does not lose it.
    private static let lease = 150
    /// Minutes after the first tick in which senders may still hold back what they could not deliver while no collector ran.
    private static let settling = 5
    /// Kept findings that are read for an answer at most, and those among which the latest end is looked for.
    private static let records = 2_000, latestRecords = 100

    private let reading: FleetReading
    private let owner: String?
    private let late: LateArrivals
    /// The fleets by the name of their environment; empty for senders without one. None while another collector computes.
    private var fleets: [String: WatchedFleet] = [:]
    /// The open findings that the last tick removed.
    private var removed: [WatchedFinding] = []
    /// The last minute of the latest tick that was finished.
    private var last: Minute?
    /// The first minute by whose end senders have delivered what waited while no collector ran.
    private var settled: Minute?
    private var isReading = false
    /// Whether this collector computes the findings of its store.
    private var isComputing = false
    /// Whether findings that an earlier collector left open are closed in environments that are not watched any more.
    private var hasClosedLeft = false

    /// - Parameters:
    ///   - owner: the collector's name, for ``Storage/leaseFindings(to:seconds:)``; `nil` for a reader, which computes for
    ///   itself and stores nothing.
    ///   - late: what the store notes of points that come late.
    package init(of storage: some Storage, as owner: String? = nil, late: LateArrivals = LateArrivals()) {
        reading = FleetReading(storage: storage)
        self.owner = owner
        self.late = late
    }

    private var storage: any Storage { reading.storage }

    /// Returns the time in nanoseconds until the next minute can be read.
    package static func timeToNextTick(now: UnixNanoseconds) -> UnixNanoseconds {
        minute - (now - min(now, delay)) % minute
    }

    /// Returns the time of the tick whose last minute is the last one that ended within a window.
    package static func timeOfTick(for window: TimeWindow) -> UnixNanoseconds { window.to.adding(delay) }

    // MARK: A tick

    /// Reads the minutes that have ended since the last tick, or those of the last three hours, and stores what has changed. Throws
    /// if the store cannot be read or written; then the next tick does the rest.
    ///
    /// - Returns: whether this collector is the one that computes the findings of its store.
    @discardableResult
    package func tick(now: UnixNanoseconds) async throws -> Bool {
        let latest = Self.lastEnded(now)
        guard latest > last ?? -1, !isReading else { return isComputing }
        isReading = true
        defer { isReading = false }
        settled = settled ?? (owner == nil ? latest : latest + Self.settling)
        try await takeTurn()
        if isComputing { try await playAll(to: latest) }
        last = latest
        if isComputing, owner != nil {
            try await keep(at: now)
            try await closeLeft(at: now)
        }
        return isComputing
    }

    /// Finds out whether this collector computes. If not, it forgets what it has found: another one goes on with it.
    private func takeTurn() async throws {
        guard let owner else { return isComputing = true }
        isComputing = try await storage.leaseFindings(to: owner, seconds: Self.lease)
        if !isComputing { (fleets, removed, hasClosedLeft) = ([:], [], false) }
    }

    private func playAll(to latest: Minute) async throws {
        let begin = max(0, latest + 1 - FindingConstants.keptMinutes)
        late.expect(from: latest + 1 - Self.again)
        let new = max(begin, last.map { $0 + 1 } ?? begin)...latest
        for environment in try await reading.environments(in: new, limit: Self.environments) {
            meet(environment, latest)
        }
        forgetLate()
        for environment in fleets.filter({ !$0.value.isIdle(in: latest) }).keys.sorted() {
            try await play(environment, from: begin, to: latest)
        }
    }

    /// Reads the last three hours of environments that have begun to send since the last tick, and of those with late points, so that
    /// their findings are right before the next tick. Does nothing while minutes are read, or if another collector computes.
    package func catchUp(now: UnixNanoseconds) async throws {
        let latest = Self.lastEnded(now)
        guard isComputing, last != nil, !isReading else { return }
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
        let noted = self.late.environments
        // An environment that is not watched is read from its first minute once it is.
        for environment in noted where fleets[environment] == nil { self.late.forget(environment) }
        let late = noted.filter { fleets[$0]?.mayRestart ?? false }
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
        let start = ContinuousClock.now
        if fleets[environment]?.isNew ?? false { try await restore(environment, since: begin) }
        var (portion, again) = (1, Self.again)
        var questions: [CarrierQuestion] = []
        while let next = fleets[environment]?.next(from: begin), next <= latest {
            let minutes = next...min(next + portion - 1, latest)
            let isSettled = settled.map { $0 <= latest } ?? false
            let read = try await reading.minutes(minutes, of: environment, again: again, isSettled: isSettled)
            questions = fleets[environment]?.play(read) ?? []
            let rows = read.reduce(0) { $0 + $1.rows.count } / (minutes.count + again)
            portion = max(1, min(Self.portion, Self.rowMinutes / max(rows, 1)))
            again = 0
        }
        let answers = try await reading.answers(to: questions, in: environment)
        fleets[environment]?.take(answers, since: start)
    }

    /// Reads what the store keeps of the time that is about to be read.
    private func restore(_ environment: String, since begin: Minute) async throws {
        late.forget(environment)
        let kept = TimeWindow(from: FindingTime.time(FindingTime.slot(of: begin)), to: .max)
        let query = FindingRecordsQuery(window: kept, environments: [environment], limit: Self.records)
        fleets[environment]?.restore(try await storage.findings(query))
    }

    // MARK: Keeping

    /// Stores what has changed in all environments at once.
    private func keep(at now: UnixNanoseconds) async throws {
        let changes = fleets.mapValues { $0.changes }
        let changed = changes.flatMap { name, changes in changes.changed.compactMap { $0.record(in: name, at: now) } }
        let removed = changes.flatMap { name, changes in changes.removed.compactMap { $0.record(in: name, at: now) } }
        if !changed.isEmpty || !removed.isEmpty { try await storage.keep(changed, removing: removed) }
        for (name, changes) in changes { fleets[name]?.note(changes) }
        self.removed = changes.sorted { $0.key < $1.key }.flatMap { name, changes in
            changes.removed.filter(\.finding.isOpen).map { one in
                WatchedFinding(
                    environment: name.isEmpty ? nil : name, one.closed(at: FindingTime.slot(at: now)).finding,
                    removal: fleets[name]?.removal(of: one))
            }
        }
    }

    /// Closes what an earlier collector left open in environments that are not watched any more.
    private func closeLeft(at now: UnixNanoseconds) async throws {
        guard !hasClosedLeft else { return }
        let query = FindingRecordsQuery(window: TimeWindow(from: now, to: .max), limit: FindingRecord.limit)
        let left = try await storage.findings(query).filter { $0.end == nil && fleets[$0.environment] == nil }
        let closed = left.compactMap { record in
            RankedFinding(record)?.closed(at: FindingTime.slot(at: record.changed))
                .record(in: record.environment, at: now)
        }
        if !closed.isEmpty { try await storage.keep(closed, removing: []) }
        hasClosedLeft = true
    }

    // MARK: Questions

    /// Returns all findings that are remembered, as of the last tick: those that go on, those that ended, and those that were open
    /// until this tick removed them. Silent services are left out at first, because they may only have waited for a collector.
    package func present() -> [WatchedFinding] {
        let isSettled = settled.map { $0 <= last ?? 0 } ?? false
        return fleets.sorted { $0.key < $1.key }.flatMap { environment, fleet in
            fleet.findings(in: 0..<Slot.max).filter { isSettled || $0.finding.kind != .silent }.map {
                WatchedFinding(environment: environment.isEmpty ? nil : environment, $0.finding)
            }
        } + removed
    }

    /// Returns the number of open findings of each kind as of the last tick, by environment: empty for senders without one.
    package func openFindings() -> [String: [FindingKind: Int]] {
        fleets.filter { !$0.value.isIdle(in: last ?? 0) }.mapValues(\.openFindings)
    }

    /// Returns the findings of a window, as of the last tick. If the store has to be read for it and cannot be, the answer has what is
    /// in memory, and is not complete.
    package func findings(_ question: FindingsQuestion) async -> FindingsAnswer {
        let slots = FindingTime.slots(question.window)
        let kept = isInMemory(slots) ? [] : await records(in: slots, question, limit: Self.records)
        let found = RankedFinding.sorted(findings(in: slots, question, besides: kept ?? []))
        let isComplete = isKept(slots) && kept.map { $0.count < Self.records } ?? false
        return FindingsAnswer(
            findings: found.prefix(FindingConstants.findings).map(\.finding), count: found.count,
            quietSince: await quietSince(question, before: slots.upperBound, besides: kept ?? []),
            isComplete: isComplete)
    }

    /// Returns the findings in memory, and those of the store that are not among them.
    private func findings(
        in slots: Range<Slot>, _ question: FindingsQuestion, besides records: [FindingRecord]
    ) -> [RankedFinding] {
        let asked = fleets.filter { question.selects(environment: $0.key) }.sorted { $0.key < $1.key }
        let present = asked.map { (name: $0.key, found: $0.value.findings(in: slots)) }
        let known = Set(present.flatMap { name, found in found.map { [name, $0.finding.id] } })
        let others = records.filter { !known.contains([$0.environment, $0.id]) }.compactMap { RankedFinding($0) }
        return (present.flatMap(\.found) + others).filter { question.selects($0.finding) }
    }

    /// Returns kept findings; `nil` if the store cannot be read.
    private func records(
        in slots: Range<Slot>, _ question: FindingsQuestion, limit: Int
    ) async -> [FindingRecord]? {
        let environments = question.filter.wanted[.environment].map { Set($0) }
        return try? await storage.findings(
            FindingRecordsQuery(window: FindingTime.window(slots), environments: environments, limit: limit))
    }

    /// Whether the detectors have all findings that reach into some slots.
    private func isInMemory(_ slots: Range<Slot>) -> Bool {
        guard isComputing, let last else { return false }
        return slots.lowerBound >= FindingTime.slot(of: last + 1 - FindingConstants.keptMinutes)
    }

    /// Whether everything was read since the start up to a window's end, but for the last minutes, and its findings are still kept.
    private func isKept(_ slots: Range<Slot>) -> Bool {
        guard let last else { return false }
        let end = FindingTime.slot(of: last + 1)
        return FindingTime.time(slots.lowerBound).adding(FindingRecord.age) >= FindingTime.time(end)
            && slots.upperBound <= end + FindingConstants.overlap
    }

    /// Returns the end of the last finding that began before a slot, if it ended before it.
    private func quietSince(
        _ question: FindingsQuestion, before end: Slot, besides records: [FindingRecord]
    ) async -> UnixNanoseconds? {
        var known = findings(in: 0..<end, question, besides: records)
        if known.isEmpty, let latest = await self.records(in: 0..<end, question, limit: Self.latestRecords) {
            known = findings(in: 0..<end, question, besides: latest)
        }
        let ends = known.map { $0.finding.until ?? .max }
        guard let last = ends.max(), last <= end else { return nil }
        return FindingTime.time(last)
    }
}

/// A finding with its environment.
package struct WatchedFinding: Sendable, Equatable {
    /// Why there is no such finding any more.
    package enum Removal: Sendable, Equatable {
        /// It is a part of another one, which has this title.
        case part(of: String)
        /// The counts that came later do not show it.
        case withdrawn
    }

    /// `nil` for senders without one.
    package var environment: String?
    package var finding: Finding
    /// `nil` if it was not removed.
    package var removal: Removal?

    package init(environment: String?, _ finding: Finding, removal: Removal? = nil) {
        (self.environment, self.finding, self.removal) = (environment, finding, removal)
    }
}

extension FleetWatch {
    package func report(_ question: FindingsQuestion) async -> FindingsReport {
        FindingsReport(await findings(question), to: question)
    }
}
