import MartletPoints
import MartletStorage
import MartletTelemetry

/// Counts cumulative figures: stores the difference of each one to the one before it in its stream. The figures and their order
/// are the same for all collectors, and so are the differences. Any collector may do it, however often.
struct CumulativePass {
    private static let maxArrivals = 256

    private let client: ClickHouseClient
    private let firstInterval: UnixNanoseconds
    private let log: CumulativeLog
    private let arrivals: [CumulativeArrival]
    /// The first of these arrivals of each sender.
    private let first: [UInt64: Int64]
    /// The time up to which figures came that may depend on these arrivals.
    private let end: Int64
    /// ClickHouse's clock before the figures were read, in seconds since 1970.
    private let time: UInt64
    private var counted: CountedArrivals
    /// Whether other arrivals may wait.
    let isMore: Bool

    /// Reads the oldest arrivals of an hour and later that came by a time; `nil` if none waits.
    init?(since hour: UInt32, until time: Int64, _ limits: ClickHouseLimits, _ client: ClickHouseClient) async throws {
        arrivals = try await client.rows(
            """
            SELECT sender, arrival, service, environment, version, instance, reading FROM arrival FINAL \
            WHERE hour >= \(hour) AND arrival <= \(time) AND counted = 0 ORDER BY arrival LIMIT \(Self.maxArrivals)
            """
        ) { try CumulativeArrival(&$0) }
        guard let last = arrivals.last else { return nil }
        self.time =
            try await client.rows("SELECT toUInt64(toUnixTimestamp(now()))") { try $0.number(UInt64.self) }.first ?? 0
        isMore = arrivals.count == Self.maxArrivals
        first = Dictionary(arrivals.map { ($0.sender, $0.time) }, uniquingKeysWith: min)
        // Those that a collector with a faster clock has counted come after these.
        let later = try await client.rows(
            "SELECT max(arrival) FROM arrival WHERE hour >= \(hour) AND counted = 1 AND sender IN \(SQLText.list(first.keys))"
        ) { try $0.number(Int64.self) }
        end = max(isMore ? last.time : time, later.first ?? 0)
        counted = CountedArrivals(arrivals)
        log = CumulativeLog(client: client)
        firstInterval = limits.firstCumulativeInterval
        self.client = client
    }

    private var senders: [UInt64] { first.keys.sorted() }
    private var start: Int64 { arrivals[0].time }

    mutating func count() async throws -> CountedArrivals {
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
        let hour = StoredHour.of(start)
        var earlier = try await log.lastTotals(
            of: entries.map(\.sender), since: hour > 0 ? hour - 1 : 0, until: start - 1)
        let quiet = Set(entries.map(Counter.init)).subtracting(earlier.map(Counter.init))
        earlier += try await log.lastTotals(of: quiet.map(\.sender), since: 0, until: start - 1)
        var latest = Dictionary(earlier.map { (Counter($0), $0.value) }) { $0.end > $1.end ? $0 : $1 }
        for entry in entries.sorted(by: { ($0.time, $0.value.end) < ($1.time, $1.value.end) }) {
            let known = latest[Counter(entry)]
            let isLate = known.map { $0.end >= entry.value.end } ?? false
            if !isLate { latest[Counter(entry)] = entry.value }
            guard !isCountedBefore(entry) else { continue }
            let growth = isLate ? nil : entry.value.growth(since: known, firstIntervalAtMost: firstInterval)
            counted.add(growth, of: entry, revision: revisions.revision(of: Counter(entry), at: entry.time))
        }
    }
}
