import Foundation
import MartletStorage
import MartletTelemetry

/// The findings of an environment as the store has them, with their ids. After a restart, a detector may find the same things at
/// other times, and so give them other ids. Without store and clock.
///
/// ```swift
/// kept.recognize(found)                               // after each tick
/// let changes = kept.changes(found, forgotten, now)   // what has to be stored
/// kept.note(changes)                                  // once it is
/// ```
struct KeptFindings {
    struct Changes {
        /// New findings, and those that changed.
        var changed: [RankedFinding] = []
        /// Findings that have become a part of another one.
        var removed: [RankedFinding] = []
        /// The ids of findings that are over for good.
        var past: Set<String> = []
    }

    /// A finding of an earlier start, or of another collector.
    private struct Earlier {
        var found: RankedFinding
        /// The slot of its last change.
        let changed: Slot
        /// The slot after its last one, as far as is known.
        var end: Slot { found.finding.until ?? changed }
    }

    /// The detector's findings as they were last stored, and the ones that it has not found again yet; by id.
    private var stored: [String: RankedFinding] = [:]
    private var earlier: [String: Earlier] = [:]
    /// The id under which each of the detector's findings is kept, by the detector's id.
    private var ids: [String: String] = [:]

    /// Takes what the store has.
    mutating func restore(_ records: [FindingRecord]) {
        for record in records {
            guard let found = RankedFinding(record) else { continue }
            earlier[record.id] = Earlier(found: found, changed: FindingTime.slot(at: record.changed))
        }
    }

    /// Forgets which findings of the detector are kept. A detector that starts again takes their ids from what the store has.
    mutating func restart() { (stored, ids) = ([:], [:]) }

    /// Lets go of earlier findings that the detector has not found again though it knows more: those that are open, or ended since
    /// a slot.
    mutating func disown(since slot: Slot) {
        for (id, one) in earlier where one.found.finding.isOpen || one.end > slot {
            (stored[id], earlier[id]) = (one.found, nil)
        }
    }

    // MARK: Ids

    /// Gives each new finding the id of the earlier one that it is.
    ///
    /// - Parameter found: all findings of the detector.
    mutating func recognize(_ found: [RankedFinding]) {
        let new = found.filter { ids[$0.finding.id] == nil }
        for found in new where earlier[found.finding.id] != nil { take(found.finding.id, as: found.finding.id) }
        for found in new where ids[found.finding.id] == nil {
            let same = earlier.values.filter { $0.found.isSame(as: found, until: $0.end) }
                .max { ($0.found.began, $0.found.finding.id) < ($1.found.began, $1.found.finding.id) }
            take(found.finding.id, as: same?.found.finding.id ?? found.finding.id)
        }
    }

    private mutating func take(_ id: String, as known: String) {
        ids[id] = known
        if let one = earlier.removeValue(forKey: known) { stored[known] = one.found }
    }

    /// Returns a finding of the detector as it is kept: with its id, and with its beginning if the detector has forgotten the time
    /// before it, or most of it.
    ///
    /// - Parameter begin: the first slot that the detector keeps.
    func named(_ found: RankedFinding, begin: Slot) -> RankedFinding {
        var found = found
        found.finding.id = ids[found.finding.id] ?? found.finding.id
        guard let before = stored[found.finding.id], found.finding.since == nil,
            before.began < begin + FindingConstants.sameEpisode
        else {
            return found
        }
        found.began = min(found.began, before.began)
        if let since = before.finding.since { found.finding.setTimes(since, found.finding.until) }
        return found
    }

    /// Returns the earlier findings that reach into some slots.
    func earlier(in slots: Range<Slot>) -> [RankedFinding] {
        earlier.values.map(\.found).filter { $0.reaches(into: slots) }.sorted { $0.finding.id < $1.finding.id }
    }

    // MARK: Changes

    /// Returns what has changed since the last time that something was stored.
    ///
    /// - Parameters:
    ///   - found: all findings of the detector, as they are kept.
    ///   - forgotten: those that it has forgotten because they are old. One without an end is closed now.
    func changes(_ found: [RankedFinding], _ forgotten: [RankedFinding], now: Slot) -> Changes {
        var changes = Changes()
        let present = Set(found.map(\.finding.id))
        let past = forgotten.filter { !present.contains($0.finding.id) }
            .map { $0.finding.isOpen ? $0.closed(at: now) : $0 }
        changes.changed = (found + past).filter { one in stored[one.finding.id].map { one.differs(from: $0) } ?? true }
        changes.past = Set(past.map(\.finding.id))
        for (id, before) in stored where !present.contains(id) && !changes.past.contains(id) {
            changes.removed.append(before)
        }
        for one in earlier.values { add(one, found, now, to: &changes) }
        changes.past.formUnion(changes.removed.map(\.finding.id))
        return changes
    }

    /// Adds an earlier finding that has become a part of another one, or that the detector has not found again for as long as the
    /// same trouble may pause.
    private func add(_ one: Earlier, _ found: [RankedFinding], _ now: Slot, to changes: inout Changes) {
        let id = one.found.finding.id
        if found.contains(where: { $0.contains(one.found, until: one.end) }) {
            changes.removed.append(one.found)
        } else if one.found.finding.isOpen {
            guard one.changed + FindingConstants.sameEpisode < now else { return }
            changes.changed.append(one.found.closed(at: one.changed))
        } else {
            guard one.end <= now - FindingConstants.keptMinutes * FindingTime.slotsOfMinute else { return }
        }
        changes.past.insert(id)
    }

    /// Notes that changes are stored.
    mutating func note(_ changes: Changes) {
        for found in changes.changed { stored[found.finding.id] = found }
        for id in changes.past { (stored[id], earlier[id]) = (nil, nil) }
        ids = ids.filter { !changes.past.contains($0.value) }
    }
}

extension RankedFinding {
    /// Whether an earlier finding is this one, found by a detector that has started again.
    ///
    /// - Parameter end: the slot after the last one of the earlier finding.
    fileprivate func isSame(as found: RankedFinding, until end: Slot) -> Bool {
        found.finding.kind == finding.kind && found.finding.subject == finding.subject
            && found.overlaps(self, until: end)
    }

    /// Whether this finding names an earlier one as something that suffers from it.
    fileprivate func contains(_ earlier: RankedFinding, until end: Slot) -> Bool {
        earlier.finding.subject.kind != nil && finding.also.contains(earlier.finding.subject)
            && overlaps(earlier, until: end)
    }

    /// Whether two findings may be one by their times: a row's trouble that comes back within half an hour is the same.
    private func overlaps(_ earlier: RankedFinding, until end: Slot) -> Bool {
        let pause = FindingConstants.sameEpisode
        return began - pause <= end && earlier.began - pause <= finding.until ?? .max
    }

    /// Whether a finding has to be stored again. What is counted of one that is over only shrinks, as the detector forgets.
    fileprivate func differs(from stored: RankedFinding) -> Bool {
        let (new, old) = (finding, stored.finding)
        guard !new.isOpen, !old.isOpen else { return began != stored.began || new != old }
        return new.kind != old.kind || new.subject != old.subject || new.since != old.since || new.until != old.until
            || new.who != old.who || new.side != old.side
    }

    /// Returns the finding as one that nobody has seen since a slot.
    func closed(at slot: Slot) -> RankedFinding {
        var closed = self
        closed.finding.isOpen = false
        closed.finding.setTimes(finding.since, max(slot, began + 1))
        return closed
    }
}

// MARK: Records

extension RankedFinding {
    /// A kept finding; `nil` if its text is none. Its cost is that of all its time.
    init?(_ record: FindingRecord) {
        guard let finding = try? JSONDecoder().decode(Finding.self, from: Data(record.text.utf8)) else { return nil }
        let processes = FindingConstants.deathInRequests * Double(finding.cost.processes)
        self.init(
            finding: finding, began: FindingTime.slot(at: record.began),
            rank: Double(finding.cost.requests) + processes)
    }

    /// The finding as a record; `nil` if its text would be too long. Rows that suffer from it are left out where they make it so.
    func record(in environment: String, at now: UnixNanoseconds) -> FindingRecord? {
        var finding = finding
        var text = finding.json
        while let long = text, long.utf8.count > FindingRecord.textLimit, !finding.also.isEmpty {
            finding.also.removeLast((finding.also.count + 1) / 2)
            text = finding.json
        }
        guard let text, text.utf8.count <= FindingRecord.textLimit else { return nil }
        return FindingRecord(
            environment: environment, id: finding.id, began: FindingTime.time(began),
            end: finding.isOpen ? nil : finding.until.map(FindingTime.time), changed: now, text: text)
    }
}

extension Finding {
    fileprivate var json: String? {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Sets the beginning and the end, also in the title.
    fileprivate mutating func setTimes(_ since: Slot?, _ until: Slot?) {
        let before = FindingTitle.times(self.since, self.until)
        (self.since, self.until) = (since, until)
        if let range = title.range(of: before, options: .backwards) {
            title.replaceSubrange(range, with: FindingTitle.times(since, until))
        }
    }
}
