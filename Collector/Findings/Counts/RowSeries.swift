/// The memory of a row: its counts of 3 h by slot and by minute, and the durations of its minutes and of its latest slots.
struct RowSeries {

    /// Statuses that say more about the one who asks than about a change: not signed in, not found, too slow, too often, gone.
    private static let usualStatuses: Set<Int> = [401, 404, 408, 429, 499]

    let row: FindingRow
    /// Requests and failures by slot, as a ring by minute.
    private var slotsOfMinutes = [SlotSums](repeating: SlotSums(), count: FindingConstants.keptMinutes)
    private(set) var failures: MinuteHistory
    private(set) var durations: MinuteHistory
    private var slotDurations: SlotDurations
    /// Slots of the last hour in which requests were found hung, in order, and their number.
    private(set) var hung: [HungRequests] = []
    private(set) var statuses: [StatusHistory] = []
    /// The minute after the newest one in which the row had requests.
    private(set) var lastUsed: Minute

    init(_ row: FindingRow, end: Minute) {
        self.row = row
        failures = MinuteHistory(end: end, span: 0..<1)
        durations = MinuteHistory(end: end, span: 0..<0)
        slotDurations = SlotDurations(end: FindingTime.slot(of: end))
        lastUsed = end
    }

    /// The minute after the newest one.
    var end: Minute { failures.end }
    var slots: Range<Slot> {
        FindingTime.slot(of: end - FindingConstants.keptMinutes)..<FindingTime.slot(of: end)
    }

    // MARK: Changes

    mutating func advance(to end: Minute) {
        for minute in max(self.end, end - FindingConstants.keptMinutes)..<max(self.end, end) {
            slotsOfMinutes[minute % FindingConstants.keptMinutes] = SlotSums()
        }
        failures.advance(to: end)
        durations.advance(to: end)
        slotDurations.advance(to: FindingTime.slot(of: end))
        forget(before: FindingTime.slot(of: end - 60))
    }

    private mutating func forget(before slot: Slot) {
        if let first = hung.first, first.slot < slot { hung.removeAll { $0.slot < slot } }
    }

    /// Replaces the counts of a minute. A minute with the same requests and failures has not changed, because late requests add
    /// to them.
    mutating func replace(_ minute: Minute, _ slots: [SlotCounts]) {
        let sums = SlotSums(slots)
        guard sums != slotSums(of: minute) || slots.contains(where: { $0.hung > 0 }) else { return }
        replace(minute, sums)
        durations.replace(minute, requests: sums.requests.wrappedSum(), slots.lazy.map(\.durations).joined())
        for (slot, counts) in zip(FindingTime.slot(of: minute)..., slots) {
            slotDurations.replace(slot, counts.durations)
            note(counts, in: slot)
        }
    }

    /// Replaces requests and failures of a minute.
    mutating func replace(_ minute: Minute, _ sums: SlotSums) {
        guard failures.minutes.contains(minute) else { return }
        slotsOfMinutes[minute % FindingConstants.keptMinutes] = sums
        let (all, bad) = (sums.requests.wrappedSum(), sums.failures.wrappedSum())
        failures.replace(minute, requests: all, CollectionOfOne(BucketCount(bucket: 0, count: bad)))
        if all > 0 { lastUsed = max(lastUsed, minute + 1) }
    }

    private mutating func note(_ counts: SlotCounts, in slot: Slot) {
        if hung.last.map({ $0.slot >= slot }) ?? false { hung.removeAll { $0.slot == slot } }
        if counts.hung > 0 { hung.append(HungRequests(slot: slot, count: Int(counts.hung))) }
        for index in statuses.indices { statuses[index].replace(slot, 0) }
        for status in counts.statuses where !Self.usualStatuses.contains(status.status) { note(status, in: slot) }
    }

    private mutating func note(_ status: StatusCount, in slot: Slot) {
        let index = statuses.firstIndex { $0.status == status.status } ?? statuses.endIndex
        if index == statuses.endIndex {
            guard statuses.count < FindingConstants.statusesOfRow else { return }
            statuses.append(StatusHistory(status: status.status))
        }
        statuses[index].replace(slot, status.count)
    }

    /// Takes minutes of a closed episode out of the reference.
    mutating func exclude(_ minutes: Range<Minute>, from kind: FindingKind) {
        if kind == .failing { failures.exclude(minutes) } else { durations.exclude(minutes) }
    }

    // MARK: Counts

    /// The history that a kind is judged by.
    func history(of kind: FindingKind) -> MinuteHistory { kind == .slow ? durations : failures }

    func requests(in slot: Slot) -> Double { count(\.requests, in: slot) }

    func failures(in slot: Slot) -> Double { count(\.failures, in: slot) }

    private func count(_ counts: KeyPath<SlotSums, SIMD8<UInt32>>, in slot: Slot) -> Double {
        guard slots.contains(slot) else { return 0 }
        return Double(slotSums(of: FindingTime.minute(of: slot))[keyPath: counts][slot % FindingTime.slotsOfMinute])
    }

    func share(ofFailuresIn range: Range<Slot>) -> Share {
        range.clamped(to: slots).reduce(into: Share(bad: 0, all: 0)) {
            $0.bad += failures(in: $1)
            $0.all += requests(in: $1)
        }
    }

    func slotSums(of minute: Minute) -> SlotSums {
        failures.minutes.contains(minute) ? slotsOfMinutes[minute % FindingConstants.keptMinutes] : SlotSums()
    }

    /// Returns the requests of a slot that took at least so long, among all. Of older slots only the minute is known; then it
    /// is a sixth of it.
    func share(atLeast bucket: Int, in slot: Slot) -> Share {
        if slotDurations.slots.contains(slot) {
            return Share(bad: slotDurations.atLeast(bucket, in: slot), all: requests(in: slot))
        }
        let (minute, part) = (FindingTime.minute(of: slot), Double(FindingTime.slotsOfMinute))
        return Share(
            bad: durations.atLeast(bucket, in: minute) / part, all: durations.requests(in: minute) / part)
    }
}

/// Requests and failures of a minute by slot: the first six lanes.
struct SlotSums: Equatable {
    var requests = SIMD8<UInt32>()
    var failures = SIMD8<UInt32>()

    init() {}

    init(_ slots: [SlotCounts]) {
        for (lane, slot) in slots.prefix(FindingTime.slotsOfMinute).enumerated() {
            requests[lane] = slot.requests
            failures[lane] = min(slot.failures, slot.requests)
        }
    }

    /// Adds the change from an earlier to a later value.
    mutating func add(_ new: SlotSums, minus old: SlotSums) {
        requests = requests &+ new.requests &- old.requests
        failures = failures &+ new.failures &- old.failures
    }
}

/// Requests that were found hung in a slot.
struct HungRequests: Equatable {
    var slot: Slot
    var count: Int
}

/// The number of a row's answers with a status: in all, and by slot for the latest slots with such answers.
struct StatusHistory {
    private static let kept = 180

    let status: Int
    private(set) var first: Slot?
    private(set) var total = 0.0
    private var latest: [(slot: Slot, count: Double)] = []

    init(status: Int) { self.status = status }

    var last: Slot? { latest.last?.slot }

    func count(in slot: Slot) -> Double { latest.last { $0.slot == slot }?.count ?? 0 }

    /// Replaces the count of a slot.
    mutating func replace(_ slot: Slot, _ count: UInt32) {
        let old = self.count(in: slot)
        guard Double(count) != old else { return }
        total += Double(count) - old
        latest.removeAll { $0.slot == slot }
        guard count > 0 else { return }
        first = min(first ?? slot, slot)
        latest.insert((slot, Double(count)), at: latest.lastIndex { $0.slot < slot }.map { $0 + 1 } ?? 0)
        if latest.count > Self.kept { latest.removeFirst() }
    }
}
