/// The minutes of a row, and running sums of them for each lag: all minutes, and those before the lag. A minute that comes,
/// leaves or changes costs a few additions, however long the history is.
///
/// A stream is a bucket: how many requests were in it or in a higher one. For failures there is one bucket.
struct MinuteHistory {
    /// The sums of all minutes; others are by the index of their lag.
    static let whole = FindingConstants.lags.count
    private static let kept = FindingConstants.keptMinutes

    /// The buckets that requests were in.
    private(set) var span: Range<Int>
    /// The minute after the newest one.
    private(set) var end: Minute
    /// Rings with an element for each minute: requests, requests by bucket, and whether the minute is in a closed episode.
    private var requests = [UInt32](repeating: 0, count: kept)
    private var counts: [UInt32]
    private var isExcluded = [Bool](repeating: false, count: kept)
    /// For each lag the requests, the sum of the squares of the minutes' requests, and the requests in each bucket or a higher
    /// one.
    private var sums: [Double]
    /// All requests that are kept, those of closed episodes too.
    private(set) var allRequests = 0.0

    private var width: Int { span.count }
    private var stride: Int { 2 + span.count }

    /// - Parameter span: the buckets that requests are expected in; others are added as they come.
    init(end: Minute, span: Range<Int>) {
        (self.end, self.span) = (end, span)
        counts = Array(repeating: 0, count: Self.kept * span.count)
        sums = Array(repeating: 0, count: (Self.whole + 1) * (2 + span.count))
    }

    /// The minutes that are kept.
    var minutes: Range<Minute> { end - Self.kept..<end }

    // MARK: Changes

    /// Begins the minutes up to `end`, without requests.
    mutating func advance(to end: Minute) {
        if end - self.end > Self.kept { self = MinuteHistory(end: end - Self.kept, span: span) }
        while self.end < end { beginMinute() }
    }

    private mutating func beginMinute() {
        let minute = end
        for sum in 0...Self.whole { add(-1, minute - Self.kept, to: sum) }
        allRequests -= Double(requests[index(minute)])
        requests[index(minute)] = 0
        isExcluded[index(minute)] = false
        for bucket in 0..<width { counts[index(minute) * width + bucket] = 0 }
        end += 1
        for (sum, lag) in FindingConstants.lags.enumerated() { add(1, minute - lag, to: sum) }
    }

    /// Replaces the counts of a minute. Minutes that are no longer kept are ignored.
    mutating func replace(_ minute: Minute, requests new: UInt32, _ buckets: some Collection<BucketCount>) {
        guard minutes.contains(minute) else { return }
        include(buckets)
        addToContaining(-1, minute)
        allRequests += Double(new) - Double(requests[index(minute)])
        requests[index(minute)] = new
        for bucket in 0..<width { counts[index(minute) * width + bucket] = 0 }
        for bucket in buckets { counts[index(minute) * width + bucket.bucket - span.lowerBound] &+= bucket.count }
        addToContaining(1, minute)
    }

    /// Takes minutes out of all sums, because they belong to a closed episode.
    mutating func exclude(_ range: Range<Minute>) {
        for minute in range.clamped(to: minutes) where !isExcluded[index(minute)] {
            addToContaining(-1, minute)
            isExcluded[index(minute)] = true
        }
    }

    private mutating func addToContaining(_ sign: Double, _ minute: Minute) {
        add(sign, minute, to: Self.whole)
        for (sum, lag) in FindingConstants.lags.enumerated() where minute < end - lag { add(sign, minute, to: sum) }
    }

    private mutating func add(_ sign: Double, _ minute: Minute, to sum: Int) {
        let (place, base) = (index(minute), sum * stride)
        guard requests[place] > 0, !isExcluded[place] else { return }
        let n = Double(requests[place])
        sums[base] += sign * n
        sums[base + 1] += sign * n * n
        Self.add(sign, counts, place * width..<(place + 1) * width, to: &sums, from: base + 2)
    }

    /// Adds the requests in each bucket or a higher one.
    private static func add(
        _ sign: Double, _ counts: [UInt32], _ range: Range<Int>, to sums: inout [Double], from base: Int
    ) {
        var sums = sums.mutableSpan
        var atLeast = 0.0
        for index in range.reversed() {
            atLeast += Double(counts[index])
            sums[base + index - range.lowerBound] += sign * atLeast
        }
    }

    private func index(_ minute: Minute) -> Int { minute % Self.kept }

    // MARK: Sums

    func requests(of sum: Int) -> Double { sums[sum * stride] }

    func squares(of sum: Int) -> Double { sums[sum * stride + 1] }

    /// The requests in this bucket or a higher one.
    func atLeast(_ bucket: Int, of sum: Int) -> Double {
        if bucket < span.lowerBound { return requests(of: sum) }
        return bucket < span.upperBound ? sums[sum * stride + 2 + bucket - span.lowerBound] : 0
    }

    // MARK: Minutes

    /// Whether a minute is kept and belongs to no closed episode.
    func isUsable(_ minute: Minute) -> Bool { minutes.contains(minute) && !isExcluded[index(minute)] }

    func requests(in minute: Minute) -> Double { minutes.contains(minute) ? Double(requests[index(minute)]) : 0 }

    func atLeast(_ bucket: Int, in minute: Minute) -> Double {
        guard minutes.contains(minute), bucket < span.upperBound else { return 0 }
        let first = max(bucket - span.lowerBound, 0)
        return (first..<width).reduce(0) { $0 + Double(counts[index(minute) * width + $1]) }
    }

    /// The mean duration of some minutes' requests, in seconds, from the middles of their buckets; `nil` without requests.
    func meanSeconds(in minutes: some Sequence<Minute>) -> Double? {
        var (seconds, all) = (0.0, 0.0)
        for minute in minutes where self.minutes.contains(minute) {
            for bucket in span {
                let count = Double(counts[index(minute) * width + bucket - span.lowerBound])
                seconds += count * CoarseBuckets.middle(bucket)
                all += count
            }
        }
        return all > 0 ? seconds / all : nil
    }

    // MARK: Buckets

    /// Widens the span so that it holds all these buckets.
    private mutating func include(_ buckets: some Collection<BucketCount>) {
        let wanted = BucketSpan.widened(span, to: buckets)
        guard wanted != span else { return }
        counts = BucketSpan.moved(counts, times: Self.kept, from: span, to: wanted)
        sums = widenedSums(to: wanted)
        span = wanted
    }

    private func widenedSums(to wanted: Range<Int>) -> [Double] {
        var moved: [Double] = []
        moved.reserveCapacity((Self.whole + 1) * (2 + wanted.count))
        for sum in 0...Self.whole {
            moved.append(requests(of: sum))
            moved.append(squares(of: sum))
            for bucket in wanted { moved.append(atLeast(bucket, of: sum)) }
        }
        return moved
    }
}

/// The buckets that a row's requests were in. A row uses a fifth of them, so arrays hold no others.
enum BucketSpan {
    /// Spans begin and end at multiples of this, so that they seldom change.
    private static let unit = 4

    static func widened(_ span: Range<Int>, to buckets: some Collection<BucketCount>) -> Range<Int> {
        guard var wanted = span.isEmpty ? buckets.first.map({ $0.bucket..<$0.bucket + 1 }) : span else { return span }
        for bucket in buckets where !wanted.contains(bucket.bucket) || span.isEmpty {
            let (low, high) = (bucket.bucket / unit * unit, (bucket.bucket / unit + 1) * unit)
            wanted = min(low, wanted.lowerBound)..<max(high, wanted.upperBound)
        }
        return wanted
    }

    /// Returns counts by time and bucket with the buckets of another span.
    static func moved(_ counts: [UInt32], times: Int, from old: Range<Int>, to new: Range<Int>) -> [UInt32] {
        var moved = [UInt32](repeating: 0, count: times * new.count)
        for (index, count) in counts.enumerated() where count > 0 {
            moved[index / old.count * new.count + index % old.count + old.lowerBound - new.lowerBound] = count
        }
        return moved
    }
}
