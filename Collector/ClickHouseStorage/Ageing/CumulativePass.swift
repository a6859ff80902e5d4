import MartletStorage
import MartletTelemetry

/// Counts cumulative figures by computing the difference between each figure and the previous one in its stream. All collectors
/// see the same figures in the same order, so they compute the same differences. Any collector may run a pass, any number of
/// times.
struct CumulativePass {
    private static let maxArrivals = 256

    private let client: ClickHouseClient
    private let firstInterval: UnixNanoseconds
    private let log: CumulativeLog
    private let arrivals: [CumulativeArrival]
    /// The time of each sender's first arrival among these.
    private let first: [UInt64: Int64]
    /// The latest arrival time of figures that may depend on these arrivals.
    private let end: Int64
    /// ClickHouse's clock just before the figures were read, in seconds since 1970.
    private let time: UInt64
    private var counted: CumulativeDeltas
    /// Whether further arrivals may be waiting.
    let isMore: Bool

    /// Reads the oldest uncounted arrivals from an hour up to a time; `nil` if there are none.
    init?(since hour: UInt32, until time: Int64, _ limits: ClickHouseLimits, _ client: ClickHouseClient) async throws {
        arrivals = try await client.rows(
            Selection(Schema.arrival),
            """
            FROM arrival FINAL WHERE hour >= \(hour) AND arrival <= \(time) AND counted = 0 ORDER BY arrival LIMIT \(Self.maxArrivals)
            """
        ) { try CumulativeArrival(&$0) }
        guard let last = arrivals.last else { return nil }
        self.time = try await client.number("toUInt64(toUnixTimestamp(now()))", "") ?? 0
        isMore = arrivals.count == Self.maxArrivals
        first = Dictionary(arrivals.map { ($0.sender, $0.time) }, uniquingKeysWith: min)
        // Arrivals after these that a collector with a faster clock has already counted.
        let later: Int64? = try await client.number(
            "max(arrival)",
            "FROM arrival WHERE hour >= \(hour) AND counted = 1 AND sender IN \(SQLText.list(first.keys))")
        end = max(isMore ? last.time : time, later ?? 0)
        counted = CumulativeDeltas(arrivals)
        log = CumulativeLog(client: client)
        firstInterval = limits.firstCumulativeInterval
        self.client = client
    }

    private var senders: [UInt64] { first.keys.sorted() }
    private var start: Int64 { arrivals[0].time }

    mutating func count() async throws -> CumulativeDeltas {
        try await countPoints()
        try await countTotals()
        return counted
    }

    private func isCountedBefore<Value>(_ entry: CumulativeLog.Entry<Value>) -> Bool {
        first[entry.sender].map { entry.time < $0 } ?? true
    }

    private mutating func countPoints() async throws {
        let nearStart = start - CumulativeRevisions<CumulativeLog.Stream>.reach
        var entries = try await log.points(of: senders, after: nearStart, until: end)
        let revisions = CumulativeRevisions<CumulativeLog.Stream>(
            of: entries.map { .init(stream: $0.stream, time: $0.time, end: $0.value.point.end) }, time: time)
        let earlier = entries.filter(isCountedBefore).reduce(into: [:]) { $0[$1.stream, default: 0] += 1 }
        let streams = Set(entries.filter { !isCountedBefore($0) }.map(\.stream))
        let quiet = streams.filter { earlier[$0, default: 0] < CumulativeLog.depth }
        let last = try await log.lastPoints(of: quiet, known: Set(earlier.keys), until: nearStart)
        let known = Set(last.map(\.stream)).union(earlier.keys)
        let ends = try await log.ends(of: Array(Set(streams.subtracting(known).map(\.sender))), before: start)
        entries += last
        let shared = CumulativeReplay.streamsThatFell(in: entries)
        if !shared.isEmpty {
            // Each of their writers has its own latest point.
            entries.removeAll { $0.time <= nearStart && shared.contains($0.stream) }
            entries += try await log.lastPoints(
                of: shared, known: [], until: nearStart, depth: CumulativeLog.depthOfShared)
        }
        for (sender, entries) in Dictionary(grouping: entries, by: \.sender) {
            var replay = CumulativeReplay(ends: ends[sender] ?? [:], firstIntervalAtMost: firstInterval)
            for (time, points) in Dictionary(grouping: entries, by: \.time).sorted(by: { $0.key < $1.key }) {
                let points = points.map(\.value)
                guard let first = first[sender], time >= first else {
                    replay.remember(points)
                    continue
                }
                for (point, difference) in replay.differences(of: points) {
                    let entry = CumulativeLog.Entry(sender: sender, time: time, value: point)
                    if replay.isShared(point) { counted.noteShared(entry) }
                    counted.add(difference, of: entry, revision: revisions.revision(of: entry.stream, at: time))
                }
            }
        }
    }

    private struct Counter: Hashable {
        let sender: UInt64
        let counter: ProcessCounter
        let start: UnixNanoseconds

        init(_ entry: CumulativeLog.Entry<ProcessTotal>) {
            (sender, counter, start) = (entry.sender, entry.value.counter, entry.value.start)
        }
    }

    private mutating func countTotals() async throws {
        var entries = try await log.totals(of: senders, after: start - CumulativeRevisions<Counter>.reach, until: end)
        let revisions = CumulativeRevisions<Counter>(
            of: entries.map { .init(stream: Counter($0), time: $0.time, end: $0.value.end) }, time: time)
        entries.removeAll { $0.time < start }
        guard !entries.isEmpty else { return }
        let hour = UInt32(hourOf: start)
        var earlier = try await log.lastTotals(
            of: entries.map(\.sender), since: hour > 0 ? hour - 1 : 0, until: start - 1)
        let quiet = Set(entries.map(Counter.init)).subtracting(earlier.map(Counter.init))
        earlier += try await log.lastTotals(of: quiet.map(\.sender), since: 0, until: start - 1)
        var latest = Dictionary(earlier.map { (Counter($0), $0.value) }) { $1.replaces($0) ? $1 : $0 }
        for entry in entries.sorted(by: { ($0.time, $0.value.end) < ($1.time, $1.value.end) }) {
            let known = latest[Counter(entry)]
            let isNext = known.map(entry.value.replaces) ?? true
            if isNext { latest[Counter(entry)] = entry.value }
            guard !isCountedBefore(entry) else { continue }
            let growth = isNext ? entry.value.growth(since: known, firstIntervalAtMost: firstInterval) : nil
            counted.add(growth, of: entry, revision: revisions.revision(of: Counter(entry), at: entry.time))
        }
    }
}

/// Computes the differences of a sender's cumulative points in order of arrival. Keeps the state of ``CumulativeDifferences`` from
/// point to point. Pure.
struct CumulativeReplay {
    private typealias Stream = CumulativeDifferences.Stream

    private var streams: [Stream: StreamWriters] = [:]
    private var ends: [UnixNanoseconds: Set<UnixNanoseconds>]
    private let firstInterval: UnixNanoseconds

    /// - Parameters:
    ///   - ends: the ends that the sender's processes reported earlier, by the process's start.
    ///   - firstInterval: the longest accepted interval of an unknown process, in nanoseconds.
    init(ends: [UnixNanoseconds: Set<UnixNanoseconds>], firstIntervalAtMost firstInterval: UnixNanoseconds) {
        self.ends = ends
        self.firstInterval = firstInterval
    }

    /// Returns the streams whose count or sum fell, so that they may have several writers.
    static func streamsThatFell(in entries: [CumulativeLog.Entry<CumulativePoint>]) -> Set<CumulativeLog.Stream> {
        var highest: [CumulativeLog.Stream: RequestStatistics] = [:]
        var fell: Set<CumulativeLog.Stream> = []
        for entry in entries.sorted(by: { ($0.time, $0.value.point.end) < ($1.time, $1.value.point.end) }) {
            let (stream, new) = (entry.stream, entry.value.point.statistics)
            let old = highest[stream] ?? new
            let isHigher = new.requests >= old.requests && new.duration.sum >= old.duration.sum
            if isHigher, new.bytesSent >= old.bytesSent, new.bytesReceived >= old.bytesReceived {
                highest[stream] = new
            } else {
                fell.insert(stream)
            }
        }
        return fell
    }

    /// Whether several processes are known to share the stream of a point.
    func isShared(_ cumulative: CumulativePoint) -> Bool { streams[Stream(cumulative)]?.isShared ?? false }

    /// Records points that arrived together and have already been counted.
    mutating func remember(_ points: [CumulativePoint]) {
        for cumulative in points.sorted(by: { $0.point.end < $1.point.end }) where streams[Stream(cumulative)] == nil {
            let point = cumulative.point
            streams[Stream(cumulative)] = StreamWriters(
                [CumulativeDifferences.LatestPoint(cumulative)],
                countsNewWriters: point.start > 0 && point.end >= point.start
                    && point.end - point.start <= firstInterval)
        }
        _ = differences(of: points)
    }

    /// Adds points that arrived together. Returns each with its difference from the previous one; `nil` for a point without new
    /// requests.
    mutating func differences(of points: [CumulativePoint]) -> [(point: CumulativePoint, difference: RequestPoint?)] {
        let isAllKnown = points.allSatisfy { streams[Stream($0)] != nil }
        let history = isAllKnown ? CumulativeHistory() : CumulativeHistory(ends: ends.mapValues(Array.init))
        let found = points.sorted { $0.point.end < $1.point.end }.map { cumulative in
            let stream = Stream(cumulative)
            var one = CumulativeDifferences(
                since: streams[stream].map { [stream: $0] } ?? [:], damaged: [], history,
                firstIntervalAtMost: firstInterval)
            one.add([cumulative])
            streams[stream] = one.streams[stream]
            return (point: cumulative, difference: one.points.first)
        }
        for cumulative in points { ends[cumulative.point.start, default: []].insert(cumulative.point.end) }
        return found
    }
}

/// The revisions of differences. If two passes compute the same difference, the result of the pass that saw more of the
/// stream's earlier points wins, because visible points never disappear. If both saw equally many, the later pass wins.
struct CumulativeRevisions<Stream: Hashable> {
    /// The range before a point, in nanoseconds, in which earlier points of its stream count towards its revision. Every pass
    /// reads this range.
    static var reach: Int64 { 600 * 1_000_000_000 }

    /// A point that a pass has read.
    struct Point: Hashable {
        let stream: Stream
        /// Its time of arrival.
        let time: Int64
        /// Points with the same end that arrived at different times are different points.
        let end: UnixNanoseconds
    }

    /// The arrival times of each stream's points, in order.
    private let times: [Stream: [Int64]]
    private let time: UInt64

    /// - Parameters:
    ///   - points: the points that the pass has read. A repeated point counts once.
    ///   - time: ClickHouse's clock just before the points were read, in seconds since 1970.
    init(of points: some Sequence<Point>, time: UInt64) {
        times = Dictionary(grouping: Set(points), by: \.stream).mapValues { $0.map(\.time).sorted() }
        self.time = time
    }

    /// Returns the revision of the difference of a stream's point.
    func revision(of stream: Stream, at time: Int64) -> UInt64 {
        let times = times[stream] ?? []
        let seen = Self.count(of: times, upTo: time) - Self.count(of: times, upTo: time - Self.reach)
        return UInt64(seen) << 40 | (self.time & (1 << 40 - 1))
    }

    /// Returns how many times are not later than `last`. Uses binary search, because a stream that has run for days has many.
    private static func count(of times: [Int64], upTo last: Int64) -> Int {
        var range = times.startIndex..<times.endIndex
        while let middle = range.isEmpty ? nil : range.lowerBound + range.count / 2 {
            range = times[middle] <= last ? middle + 1..<range.upperBound : range.lowerBound..<middle
        }
        return range.lowerBound
    }
}
