import MartletStorage
import MartletTelemetry

/// The rows of arrivals whose figures have been counted.
struct CumulativeDeltas {
    private struct StreamEnd: Hashable {
        let stream: CumulativeLog.Stream
        let end: UnixNanoseconds
    }

    private struct CounterEnd: Hashable {
        let sender: UInt64
        let counter: ProcessCounter
        let start: UnixNanoseconds
        let end: UnixNanoseconds
    }

    private struct SharedHour: Hashable {
        let sender: UInt64
        let hour: UInt32
    }

    private struct ArrivalKey: Hashable {
        let sender: UInt64
        let time: Int64
    }

    private let arrivals: [CumulativeArrival]
    private let resources: [UInt64: TelemetryResource]
    private let open: Set<ArrivalKey>
    private var points = Differences<StreamEnd, RequestPoint> { one, other in
        var sum = one
        sum.statistics.merge(other.statistics)
        return sum
    }
    private var totals = Differences<CounterEnd, ProcessPoint> { $1 }
    private var requests: [ArrivalKey: UInt64] = [:]
    private var shared: Set<SharedHour> = []

    /// - Parameter arrivals: the arrivals that have not been counted yet.
    init(_ arrivals: [CumulativeArrival]) {
        self.arrivals = arrivals
        resources = Dictionary(arrivals.map { ($0.sender, $0.resource) }) { first, _ in first }
        open = Set(arrivals.map { ArrivalKey(sender: $0.sender, time: $0.time) })
    }

    /// - Parameter revision: see ``CumulativeRevisions``.
    mutating func add(
        _ difference: RequestPoint?, of entry: CumulativeLog.Entry<CumulativePoint>, revision: UInt64
    ) {
        let (point, arrival) = (entry.value.point, ArrivalKey(sender: entry.sender, time: entry.time))
        let nothing = RequestPoint(
            series: point.series, start: point.end, end: point.end, statistics: RequestStatistics())
        points.add(
            difference, orOver: nothing, to: StreamEnd(stream: entry.stream, end: point.end),
            isNew: open.contains(arrival), revision: revision)
        if let difference { requests[arrival, default: 0] &+= difference.statistics.requests }
    }

    /// - Parameter revision: see ``CumulativeRevisions``.
    mutating func add(_ growth: ProcessPoint?, of entry: CumulativeLog.Entry<ProcessTotal>, revision: UInt64) {
        let total = entry.value
        totals.add(
            growth, orOver: ProcessPoint(start: total.end, end: total.end, statistics: ProcessStatistics()),
            to: CounterEnd(sender: entry.sender, counter: total.counter, start: total.start, end: total.end),
            isNew: open.contains(ArrivalKey(sender: entry.sender, time: entry.time)), revision: revision)
    }

    /// Records that several processes share the sender of a point.
    mutating func noteShared(_ entry: CumulativeLog.Entry<CumulativePoint>) {
        shared.insert(SharedHour(sender: entry.sender, hour: UInt32(hourOf: Int64(clamping: entry.value.point.end))))
    }

    /// The new requests of each sender.
    var added: [InstanceMetrics] {
        Dictionary(grouping: points.new, by: \.key.stream.sender).compactMap { sender, found in
            resources[sender].map { InstanceMetrics(resource: $0, points: found.map(\.point)) }
        }
    }

    /// The hours in which the differences end, and those of the readings.
    var changes: HourChanges {
        var changes = HourChanges()
        for one in points.toStore { changes.note(endOfOther: one.point.end) }
        for one in totals.toStore { changes.note(endOfOther: one.point.end) }
        for (arrival, _) in readings { changes.note(reading: UnixNanoseconds(clamping: arrival.reading)) }
        return changes
    }

    var differences: [TableRows] {
        var (differences, processes) = (TableRows(Schema.difference), TableRows(Schema.process))
        for (key, point, revision) in points.toStore {
            guard let resource = resources[key.stream.sender] else { continue }
            differences.append(
                difference: point, of: resource, sender: key.stream.sender,
                batch: RowIdentity.difference(key.stream.stream), revision: revision)
        }
        for (key, point, revision) in totals.toStore {
            processes.append(
                point, sender: key.sender, batch: RowIdentity.difference(key.counter, start: key.start),
                revision: revision)
        }
        var hours = TableRows(Schema.sharedSender)
        for one in shared {
            hours.append { row in
                row.number(one.hour)
                row.number(one.sender)
            }
        }
        var ledgers = TableRows(Schema.ledger)
        for (arrival, requests) in readings { ledgers.append(requests, of: arrival) }
        return [differences, processes, hours, ledgers]
    }

    /// The rows to insert after all others. An arrival is marked as counted only once its differences are stored.
    var counted: TableRows {
        var rows = TableRows(Schema.arrival)
        for arrival in arrivals { rows.append(arrival, counted: true) }
        return rows
    }

    /// The arrivals with a reading of the ledger, each with the requests that it added.
    private var readings: [(CumulativeArrival, UInt64)] {
        arrivals.compactMap { arrival in
            let requests = requests[ArrivalKey(sender: arrival.sender, time: arrival.time)] ?? 0
            return arrival.reading > 0 && requests > 0 ? (arrival, requests) : nil
        }
    }
}

/// Differences by the key that identifies their rows.
private struct Differences<Key: Hashable, Point> {
    private struct Found {
        var point: Point?
        /// The empty difference that replaces a stored one that no longer applies.
        let nothing: Point
        /// Whether the difference was never stored before.
        var isNew: Bool
        var revision: UInt64
    }

    private var found: [Key: Found] = [:]
    private let merge: (Point, Point) -> Point

    init(merging merge: @escaping (Point, Point) -> Point) {
        self.merge = merge
    }

    mutating func add(_ point: Point?, orOver nothing: Point, to key: Key, isNew: Bool, revision: UInt64) {
        var known = found[key] ?? Found(nothing: nothing, isNew: true, revision: 0)
        // If a point came twice, only the first copy has new requests. If both have some, they are of two writers.
        known.point = known.point.flatMap { one in point.map { merge(one, $0) } } ?? point ?? known.point
        known.isNew = known.isNew && isNew
        known.revision = max(known.revision, revision)
        found[key] = known
    }

    var new: [(key: Key, point: Point)] {
        found.compactMap { key, one in one.isNew ? one.point.map { (key, $0) } : nil }
    }

    var toStore: [(key: Key, point: Point, revision: UInt64)] {
        found.compactMap { key, one in
            (one.point ?? (one.isNew ? nil : one.nothing)).map { (key, $0, one.revision) }
        }
    }
}

extension TableRows {
    /// Appends the number of new requests in an arrival, for the ledger reading that came with it.
    fileprivate mutating func append(_ requests: UInt64, of arrival: CumulativeArrival) {
        append(
            LedgerReading(time: UInt64(clamping: arrival.reading)), requests: requests, sender: arrival.sender,
            batch: RowIdentity.arrival(arrival.time))
    }
}

/// A batch with cumulative figures.
struct CumulativeArrival: Sendable {
    let sender: UInt64
    /// The time of arrival, by the clock of the collector that received it.
    let time: Int64
    let resource: TelemetryResource
    /// The time of the ledger's reading that came with it; 0 without one.
    let reading: Int64
}

extension CumulativeArrival {
    init(_ row: inout RowReader) throws {
        resource = try TelemetryResource(dimensions: &row)
        (sender, time) = (try row.number("sender"), try row.number("arrival"))
        reading = try row.number("reading")
    }
}

extension TableRows {
    /// Appends a row of `arrival`.
    mutating func append(_ arrival: CumulativeArrival, counted: Bool) {
        append { row in
            row.number(UInt32(hourOf: arrival.time))
            row.number(arrival.sender)
            row.number(arrival.time)
            row.add(Dimension.ofSender, of: arrival.resource)
            row.number(arrival.reading)
            row.flag(counted)
        }
    }
}
