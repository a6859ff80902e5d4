/// The minutes of a row, and running sums of them for each lag: all minutes, and those before the lag. A minute that comes, leaves
/// or changes costs a few additions, however long the history is.
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
    /// By minute, as a ring: requests, requests by bucket, and whether the minute belongs to a closed episode.
    private var requests = [UInt32](repeating: 0, count: kept)
    private var counts: [UInt32]
    private var isExcluded = [Bool](repeating: false, count: kept)
    /// For each lag: n, n², then for each bucket x, x² and x n.
    private var sums: [Double]

    private var width: Int { span.count }
    private var stride: Int { 2 + 3 * span.count }

    init(end: Minute, span: Range<Int> = 0..<1) {
        (self.end, self.span) = (end, span)
        counts = Array(repeating: 0, count: Self.kept * span.count)
        sums = Array(repeating: 0, count: (Self.whole + 1) * (2 + 3 * span.count))
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
        add(-1, minute - Self.kept, to: 0...Self.whole)
        requests[index(minute)] = 0
        isExcluded[index(minute)] = false
        for bucket in 0..<width { counts[index(minute) * width + bucket] = 0 }
        end += 1
        for (sum, lag) in FindingConstants.lags.enumerated() { add(1, minute - lag, to: sum...sum) }
    }

    /// Replaces the counts of a minute. Minutes that are no longer kept are ignored.
    mutating func replace(_ minute: Minute, requests new: UInt32, _ buckets: [BucketCount]) {
        guard minutes.contains(minute) else { return }
        include(buckets)
        addToContaining(-1, minute)
        requests[index(minute)] = new
        for bucket in 0..<width { counts[index(minute) * width + bucket] = 0 }
        for bucket in buckets { counts[index(minute) * width + bucket.bucket - span.lowerBound] += bucket.count }
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
        add(sign, minute, to: Self.whole...Self.whole)
        for (sum, lag) in FindingConstants.lags.enumerated() where minute < end - lag {
            add(sign, minute, to: sum...sum)
        }
    }

    private mutating func add(_ sign: Double, _ minute: Minute, to range: ClosedRange<Int>) {
        let (place, width, stride) = (index(minute), width, stride)
        guard requests[place] > 0, !isExcluded[place] else { return }
        let n = Double(requests[place])
        for sum in range {
            let base = sum * stride
            sums[base] += sign * n
            sums[base + 1] += sign * n * n
            var atLeast = 0.0
            for bucket in Swift.stride(from: width - 1, through: 0, by: -1) {
                atLeast += Double(counts[place * width + bucket])
                guard atLeast > 0 else { continue }
                sums[base + 2 + bucket] += sign * atLeast
                sums[base + 2 + width + bucket] += sign * atLeast * atLeast
                sums[base + 2 + 2 * width + bucket] += sign * atLeast * n
            }
        }
    }

    private func index(_ minute: Minute) -> Int { minute % Self.kept }

    // MARK: Sums

    func requests(of sum: Int) -> Double { sums[sum * stride] }

    func squares(of sum: Int) -> Double { sums[sum * stride + 1] }

    /// The sum over minutes of requests in this bucket or a higher one.
    func atLeast(_ bucket: Int, of sum: Int) -> Double { value(bucket, sum, 0, below: requests(of: sum)) }

    /// The sum over minutes of its square.
    func atLeastSquares(_ bucket: Int, of sum: Int) -> Double { value(bucket, sum, 1, below: squares(of: sum)) }

    /// The sum over minutes of it, times the minute's requests.
    func atLeastTimesRequests(_ bucket: Int, of sum: Int) -> Double { value(bucket, sum, 2, below: squares(of: sum)) }

    /// - Parameter below: the value for buckets below the span: all requests are above them.
    private func value(_ bucket: Int, _ sum: Int, _ column: Int, below: @autoclosure () -> Double) -> Double {
        if bucket < span.lowerBound { return below() }
        guard bucket < span.upperBound else { return 0 }
        return sums[sum * stride + 2 + column * width + bucket - span.lowerBound]
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

    // MARK: Buckets

    /// Widens the span so that it holds all these buckets.
    private mutating func include(_ buckets: [BucketCount]) {
        let wanted = BucketSpan.widened(span, to: buckets)
        guard wanted != span else { return }
        counts = BucketSpan.moved(counts, from: span, to: wanted)
        sums = widenedSums(to: wanted)
        span = wanted
    }

    private func widenedSums(to wanted: Range<Int>) -> [Double] {
        var moved: [Double] = []
        for sum in 0...Self.whole {
            moved += [requests(of: sum), squares(of: sum)]
            moved += wanted.map { atLeast($0, of: sum) }
            moved += wanted.map { atLeastSquares($0, of: sum) }
            moved += wanted.map { atLeastTimesRequests($0, of: sum) }
        }
        return moved
    }
}

/// The buckets that a row's requests were in. A row uses a fifth of them, so arrays hold no others.
enum BucketSpan {
    /// Spans begin and end at multiples of this, so that they seldom change.
    private static let unit = 4

    static func widened(_ span: Range<Int>, to buckets: [BucketCount]) -> Range<Int> {
        guard let low = buckets.map(\.bucket).min(), let high = buckets.map(\.bucket).max(),
            low < span.lowerBound || high >= span.upperBound
        else { return span }
        let lower = low / unit * unit, upper = (high / unit + 1) * unit
        return span.isEmpty ? lower..<upper : min(lower, span.lowerBound)..<max(upper, span.upperBound)
    }

    /// Returns counts by time and bucket with the buckets of another span.
    static func moved(_ counts: [UInt32], from old: Range<Int>, to new: Range<Int>) -> [UInt32] {
        guard !old.isEmpty else { return [] }
        var moved = [UInt32](repeating: 0, count: counts.count / old.count * new.count)
        for (index, count) in counts.enumerated() where count > 0 {
            moved[index / old.count * new.count + index % old.count + old.lowerBound - new.lowerBound] = count
        }
        return moved
    }
}
