/// The durations of a row's latest slots, by coarse bucket.
struct SlotDurations {
    private static let kept = FindingConstants.minutesOfSlots * FindingTime.slotsOfMinute

    private var span = 0..<0
    private var counts: [UInt32] = []
    private var end: Slot

    init(end: Slot) { self.end = end }

    var slots: Range<Slot> { end - Self.kept..<end }

    mutating func advance(to end: Slot) {
        for slot in max(self.end, end - Self.kept)..<max(self.end, end) { clear(slot) }
        self.end = max(self.end, end)
    }

    mutating func replace(_ slot: Slot, _ buckets: [BucketCount]) {
        guard slots.contains(slot) else { return }
        include(buckets)
        clear(slot)
        for bucket in buckets { counts[first(slot) + bucket.bucket - span.lowerBound] &+= bucket.count }
    }

    func atLeast(_ bucket: Int, in slot: Slot) -> Double {
        guard slots.contains(slot), bucket < span.upperBound else { return 0 }
        let low = max(bucket - span.lowerBound, 0)
        return (low..<span.count).reduce(0) { $0 + Double(counts[first(slot) + $1]) }
    }

    private func first(_ slot: Slot) -> Int { slot % Self.kept * span.count }

    private mutating func clear(_ slot: Slot) {
        for bucket in 0..<span.count { counts[first(slot) + bucket] = 0 }
    }

    private mutating func include(_ buckets: [BucketCount]) {
        let wanted = BucketSpan.widened(span, to: buckets)
        guard wanted != span else { return }
        counts = BucketSpan.moved(counts, times: Self.kept, from: span, to: wanted)
        span = wanted
    }
}
