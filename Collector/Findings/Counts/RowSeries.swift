/// What is kept of a row: counts of 3 h, in slots and in minutes, and the durations of its minutes and of its latest slots.
struct RowSeries {
    private static let kept = FindingConstants.keptMinutes * FindingTime.slotsOfMinute

    /// Statuses that say more about the one who asks than about a change: not signed in, not found, too slow, too often, gone.
    private static let usualStatuses: Set<Int> = [401, 404, 408, 429, 499]

    let row: FindingRow
    /// Requests and failures by slot, as a ring.
    private var requests = [UInt32](repeating: 0, count: kept)
    private var failed = [UInt32](repeating: 0, count: kept)
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
        failures = MinuteHistory(end: end)
        durations = MinuteHistory(end: end)
        slotDurations = SlotDurations(end: FindingTime.slot(of: end))
        lastUsed = end
    }

    /// The minute after the newest one.
    var end: Minute { failures.end }
    var slots: Range<Slot> { FindingTime.slot(of: end) - Self.kept..<FindingTime.slot(of: end) }

    // MARK: Changes

    mutating func advance(to end: Minute) {
        let first = max(self.end, end - FindingConstants.keptMinutes)
        for slot in FindingTime.slot(of: first)..<FindingTime.slot(of: max(first, end)) {
            requests[slot % Self.kept] = 0
            failed[slot % Self.kept] = 0
        }
        failures.advance(to: end)
        durations.advance(to: end)
        slotDurations.advance(to: FindingTime.slot(of: end))
        forget(before: FindingTime.slot(of: end - 60))
    }

    private mutating func forget(before slot: Slot) {
        if let first = hung.first, first.slot < slot { hung.removeAll { $0.slot < slot } }
    }

    /// Replaces the counts of a minute.
    mutating func replace(_ minute: Minute, _ slots: [SlotCounts]) {
        replace(minute, requests: slots.map(\.requests), failures: slots.map(\.failures))
        let buckets = slots.flatMap(\.durations)
        durations.replace(minute, requests: slots.reduce(0) { $0 &+ $1.requests }, buckets)
        for (slot, counts) in zip(FindingTime.slot(of: minute)..., slots) {
            slotDurations.replace(slot, counts.durations)
            note(counts, in: slot)
        }
    }

    /// Replaces requests and failures of a minute, by slot.
    mutating func replace(_ minute: Minute, requests: [UInt32], failures: [UInt32]) {
        let first = FindingTime.slot(of: minute)
        guard slots.contains(first), requests.count == failures.count,
            requests.count <= FindingTime.slotsOfMinute
        else { return }
        for index in requests.indices {
            self.requests[(first + index) % Self.kept] = requests[index]
            failed[(first + index) % Self.kept] = failures[index]
        }
        let (all, bad) = (requests.reduce(0, &+), failures.reduce(0, &+))
        self.failures.replace(minute, requests: all, [BucketCount(bucket: 0, count: bad)])
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

    func requests(in slot: Slot) -> Double { slots.contains(slot) ? Double(requests[slot % Self.kept]) : 0 }

    func failures(in slot: Slot) -> Double { slots.contains(slot) ? Double(failed[slot % Self.kept]) : 0 }

    func share(ofFailuresIn range: Range<Slot>) -> Share {
        range.clamped(to: slots).reduce(into: Share(bad: 0, all: 0)) {
            $0.bad += failures(in: $1)
            $0.all += requests(in: $1)
        }
    }

    func slotCounts(of minute: Minute) -> (requests: [UInt32], failures: [UInt32]) {
        let first = FindingTime.slot(of: minute)
        let slots = (first..<first + FindingTime.slotsOfMinute).map { $0 % Self.kept }
        return (slots.map { requests[$0] }, slots.map { failed[$0] })
    }

    /// Returns the requests of a slot that took at least so long, among all. Of older slots only the minute is known; then it is a
    /// sixth of it.
    func share(atLeast bucket: Int, in slot: Slot) -> Share {
        if slotDurations.slots.contains(slot) {
            return Share(bad: slotDurations.atLeast(bucket, in: slot), all: requests(in: slot))
        }
        let (minute, part) = (FindingTime.minute(of: slot), Double(FindingTime.slotsOfMinute))
        return Share(
            bad: durations.atLeast(bucket, in: minute) / part, all: durations.requests(in: minute) / part)
    }
}

/// Requests that were found hung in a slot.
struct HungRequests: Equatable {
    var slot: Slot
    var count: Int
}

/// How often a row answered with a status: in all, and by slot for the latest slots with such answers.
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
