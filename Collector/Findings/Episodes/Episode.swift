/// One kind of trouble in one place, for a stretch of time. A finding is one or several episodes with one cause.
struct Episode {
    /// How an episode was found.
    enum Onset {
        /// It began within the data.
        case change
        /// It was there from the beginning, and is over.
        case over
        /// It was there from the beginning, and is bad by itself.
        case always
    }

    let number: Int
    let kind: FindingKind
    let place: Place
    /// The minute in which it was found.
    let opened: Minute
    let onset: Onset
    /// The first bad slot.
    var start: Slot
    /// The slot after the last bad one; `nil` while it goes on.
    var end: Slot?
    var isOpen = true
    /// Whether it was seen to begin. Otherwise it may have been there before the data.
    var isStartKnown = true
    /// The slot before which it cannot have begun: the lag that it was found with.
    let earliestStart: Slot
    /// When it came back, if it had been closed before.
    var resumed: Slot?
    var closedBefore: Slot?
    /// The slot after the last bad one before it came back.
    var endBefore: Slot?

    // MARK: A share of requests

    /// The coarse bucket from which a request is slow.
    var bucket = 0
    /// The status of a new error.
    var status: Int?
    var counts: EpisodeCounts?
    /// The share of bad requests before, and while it lasts.
    var usualShare = 0.0
    var badShare = 1.0
    /// The factor by which its end needs more evidence: a busy row needs more, because its level drifts.
    var patience = 1.0
    /// Requests that are bad, and would not have been before, until now.
    var excess = 0.0

    // MARK: Events

    /// The slots of events, such as ends of processes; one for each event.
    var events: [Slot] = []
    /// The versions of the processes that it is about.
    var versions: [String] = []
    /// Why processes ended, and during what.
    var ends = EndCounts()
    /// Requests that were lost.
    var lost: UInt64 = 0
    /// The growth of memory, in MiB a minute.
    var growth: Double?
    /// The calls that one request makes.
    var calls: CallRatio?
    /// The served endpoint that asks a failing one again and again.
    var retries: RetryRatio?

    // MARK: What is said of it

    var who: [FindingCarrier] = []
    var side: Finding.Side?
    var what: [FailureForm] = []
    /// Whether ``who`` was looked for after it closed.
    var isWhoFinal = false
    /// The endpoint that was named for a service's failures; `nil` if none yet.
    var widest: WidestSubject?

    init(
        _ number: Int, _ kind: FindingKind, at place: Place, opened: Minute, start: Slot, onset: Onset = .change
    ) {
        (self.number, self.kind, self.place, self.opened, self.onset) = (number, kind, place, opened, onset)
        (self.start, earliestStart) = (start, start)
    }

    /// The slots that it spans.
    func slots(until now: Slot) -> Range<Slot> { start..<max(start, end ?? now) }

    var span: EpisodeSpan {
        EpisodeSpan(
            number: number, kind: kind, place: place, opened: opened, start: start, end: end, isOpen: isOpen,
            endBefore: endBefore, calls: calls?.made)
    }

    /// When its requests began.
    var began: Slot { span.began }

    /// Returns the requests within some slots that are bad, and would not have been before.
    func excess(in range: Range<Slot>, now: Slot) -> Double {
        if kind == .hung { return Double(events.count(where: range.contains)) }
        guard let counts else { return 0 }
        let share = counts.share(in: slots(until: now).clamped(to: range))
        return max(0, share.bad - usualShare * share.all)
    }
}

/// Why processes ended and what was in flight, as far as is known, each with the number of its ends.
struct EndCounts {
    /// The causes, and the endpoints, that are counted at most.
    private static let kept = 32

    private(set) var causes: [String: Int] = [:]
    private(set) var endpoints: [String: Int] = [:]

    mutating func add(_ end: ProcessEnd) {
        Self.count(end.cause, in: &causes)
        Self.count(end.endpoint, in: &endpoints)
    }

    private static func count(_ text: String?, in counts: inout [String: Int]) {
        guard let text, counts[text] != nil || counts.count < kept else { return }
        counts[text, default: 0] += 1
    }

    /// Returns texts with their counts, the most frequent first.
    static func sorted(_ counts: [String: Int]) -> [(text: String, count: Int)] {
        counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { ($0.key, $0.value) }
    }
}

/// The kind, place and time of an episode, without its counts.
struct EpisodeSpan {
    let number: Int
    let kind: FindingKind
    let place: Place
    let opened: Minute
    let start: Slot
    let end: Slot?
    let isOpen: Bool
    /// The slot after the last bad one before it came back; `nil` if it did not.
    let endBefore: Slot?
    /// The rows of the calls that a request makes; `nil` if it is not about calls.
    let calls: [Int]?

    /// When its requests began. A hung request began long before it was known to hang.
    var began: Slot { kind == .hung ? start - FindingConstants.hungAfter : start }

    /// Whether two episodes may have one cause by their times.
    func overlaps(_ other: EpisodeSpan) -> Bool {
        let slack = FindingConstants.overlap
        return began - slack <= other.end ?? .max && other.began - slack <= end ?? .max
    }
}

/// The bad requests of an episode's row among all, by slot, of the time that is kept.
struct EpisodeCounts {
    private static let kept = FindingConstants.keptMinutes * FindingTime.slotsOfMinute

    /// The first slot.
    private(set) var first: Slot
    private(set) var bad: [Double] = []
    private(set) var all: [Double] = []

    init(first: Slot) { self.first = first }

    /// The slot after the last one.
    var end: Slot { first + bad.count }

    /// Replaces the slots from one on.
    mutating func replace(from slot: Slot, _ shares: [Share]) {
        let known = max(0, min(slot - first, bad.count))
        bad.removeSubrange(known...)
        all.removeSubrange(known...)
        for share in shares {
            bad.append(min(share.bad, share.all))
            all.append(share.all)
        }
        forgetOld()
    }

    private mutating func forgetOld() {
        let old = bad.count - Self.kept
        guard old > 0 else { return }
        bad.removeFirst(old)
        all.removeFirst(old)
        first += old
    }

    func share(in range: Range<Slot>) -> Share {
        let lower = max(range.lowerBound, first), upper = min(range.upperBound, end)
        guard lower < upper else { return Share(bad: 0, all: 0) }
        return (lower - first..<upper - first).reduce(into: Share(bad: 0, all: 0)) {
            $0.bad += bad[$1]
            $0.all += all[$1]
        }
    }
}

/// The subject that was named for a service's failures.
enum WidestSubject: Hashable {
    case service
    case endpoint(Int)
}
