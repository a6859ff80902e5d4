import MartletStorage
import MartletTelemetry

/// The copy of a file into a store on ClickHouse.
///
/// A row's identity is that of its file and its number there. So a part that is copied again replaces itself, and figures that
/// collectors store meanwhile are added to it. The store remembers how far the copy has got, and the two things that must not
/// change until its end: the file, and the time up to which there are hours alone.
package struct ClickHouseCopy: Sendable {
    /// The time up to which the store has figures by the hour alone, in nanoseconds since 1970.
    package let hoursUntil: Int64
    private let client: ClickHouseClient
    /// The identity of the file.
    private let source: String
    private let limits = ClickHouseLimits()
    private let changedHours = ChangedHours()
    /// The collector's clock.
    private let now: @Sendable () -> UnixNanoseconds

    /// Begins the copy, or goes on with one that was interrupted. Throws ``StorageFailure`` if the tables are missing, older or newer,
    /// or if an interrupted copy cannot go on, and an error if no server answers.
    ///
    /// - Parameters:
    ///   - source: the identity of the file.
    ///   - fingerprint: a number that changes whenever the file does.
    package init(
        of source: String, _ fingerprint: Int64, to location: ClickHouseLocation, _ credentials: ClickHouseCredentials,
        now: @escaping @Sendable () -> UnixNanoseconds
    ) async throws {
        client = try await ClickHouseClient(location, credentials, timeout: limits.answerTime)
        _ = try await Migration.check(client)
        self.source = source
        self.now = now
        if let begun = try await Self.number(.fingerprint, source, client) {
            guard begun == fingerprint else {
                throw StorageFailure("the file was used since its copy began; \(Self.remedy)")
            }
            hoursUntil = try await Self.number(.hours, source, client) ?? 0
            try await checkHours()
        } else {
            hoursUntil = try await Self.firstHours(client, now: now(), limits)
            try await Self.note(hoursUntil, as: .hours, source, client)
            try await Self.note(fingerprint, as: .fingerprint, source, client)
        }
    }

    /// Returns the number of the last row of a table that was copied; 0 before the first.
    package func position(in table: CopiedTable) async throws -> Int64 {
        try await Self.number(.table(table), source, client) ?? 0
    }

    /// Stores a part, and the number of its last row after it. Throws ``StorageFailure`` if collectors have made hours since the copy
    /// began.
    package func store(_ part: CopiedPart, of table: CopiedTable) async throws {
        try await checkHours()
        var rows = CopiedRows(of: source, hoursUntil: UInt32(clamping: hoursUntil / StoredHour.length))
        switch part.rows {
        case .batches(let batches): for one in batches { rows.add(one) }
        case .senders(let senders):
            let now = now()
            for one in senders { rows.add(one, streamsSince: now - min(now, limits.cumulativeAge)) }
        case .points(let points):
            for one in points { rows.add(one) }
        case .details(let details): for one in details { try rows.add(one) }
        case .calls(let calls):
            let oldest = Int64(clamping: now()) - limits.retention.age(.hour)
            for one in calls { rows.add(one, since: oldest) }
        }
        try await client.insert(changedHours.rows(of: rows.changes))
        for table in rows.tables { try await client.insert(table) }
        try await checkHours()
        try await Self.note(part.last, as: .table(table), source, client)
    }

    // MARK: Hours

    /// Points that come into a week whose points became hours may count no more: see docs/clickhouse.md.
    private func checkHours() async throws {
        guard Int64(try await client.rolledHours()) * StoredHour.length == hoursUntil else {
            throw StorageFailure("collectors have made hours in ClickHouse since the copy began; \(Self.remedy)")
        }
    }

    private static let remedy = "copy it into a new database"

    /// Returns the time up to which the store has hours alone. An empty store gets the time that its first collector would set.
    private static func firstHours(
        _ client: ClickHouseClient, now: UnixNanoseconds, _ limits: ClickHouseLimits
    ) async throws -> Int64 {
        let rolled = Int64(try await client.rolledHours()) * StoredHour.length
        let points = try await client.rows("SELECT toUInt8(1) FROM point LIMIT 1") { try $0.number(UInt8.self) }
        guard rolled == 0, points.isEmpty else { return rolled }
        let oldest = max(0, Int64(clamping: now) - limits.rawAge) / StoredHour.length
        let until = oldest / Schema.hoursOfPart * Schema.hoursOfPart
        try await client.run("INSERT INTO rolled (until) VALUES (\(until))")
        return until * StoredHour.length
    }

    // MARK: Progress

    /// A number that the store remembers of a copy.
    private enum Note {
        case fingerprint
        case hours
        case table(CopiedTable)

        var name: String {
            switch self {
            case .fingerprint: "fingerprint"
            case .hours: "hours"
            case .table(let table): table.rawValue
            }
        }
    }

    private static func number(_ note: Note, _ source: String, _ client: ClickHouseClient) async throws -> Int64? {
        try await client.rows(
            "SELECT position FROM copied FINAL WHERE source = \(SQLText.quoted(source)) AND contents = '\(note.name)'"
        ) { try $0.number(Int64.self) }.first
    }

    private static func note(
        _ number: Int64, as note: Note, _ source: String, _ client: ClickHouseClient
    ) async throws {
        var rows = TableRows(Schema.copied)
        rows.append { row in
            row.text(source)
            row.text(note.name)
            row.number(number)
        }
        try await client.insert(rows)
    }
}

/// The rows of a part of another store.
struct CopiedRows {
    private let source: String
    /// The first hour that is read from `point`. Earlier ones are read from `hour`.
    private let firstHour: UInt32
    private var batches = TableRows(Schema.batch)
    private var senders = TableRows(Schema.sender)
    private var ledgers = TableRows(Schema.ledger)
    private var processes = TableRows(Schema.process)
    private var processHours = TableRows(Schema.processHour)
    private var cumulative = TableRows(Schema.cumulative)
    private var totals = TableRows(Schema.processTotal)
    private var arrivals = TableRows(Schema.arrival)
    private var points = TableRows(Schema.point)
    private var hours = TableRows(Schema.hour)
    private var series = TableRows(Schema.series)
    private var details = TableRows(Schema.detail)
    private var calls = TableRows(Schema.observedCall)
    private var knownSeries: Set<SeriesDay> = []
    /// The hours that points and figures of processes end in.
    private(set) var changes = HourChanges()

    /// - Parameters:
    ///   - source: the identity of the other store.
    ///   - hours: the end of the hours that are read from `hour`, in hours since 1970.
    init(of source: String, hoursUntil hours: UInt32) {
        self.source = source
        firstHour = hours
    }

    /// The rows of each table. Arrivals come after their figures, as always.
    var tables: [TableRows] {
        [
            batches, ledgers, processes, processHours, cumulative, totals, arrivals, senders, points, hours, series,
            details, calls,
        ]
    }

    mutating func add(_ copied: CopiedBatches) {
        var ids = copied.whole.map { range in
            BatchID(
                instance: copied.instance, sequence: range.upperBound, first: range.lowerBound, signal: copied.signal)
        }
        ids += copied.parts
        let highest = copied.sequences.highestSequence
        if ids.allSatisfy({ $0.sequence < highest }) {
            ids.append(BatchID(instance: copied.instance, sequence: highest, signal: copied.signal))
        }
        // The first row has the batches whose numbers the other store has forgotten, too.
        let known = copied.whole.reduce(0) { $0 &+ $1.sequences }
        var forgotten = copied.sequences.arrivedSequences - min(copied.sequences.arrivedSequences, known)
        var overlapping = copied.sequences.overlappingBatches
        for (index, id) in ids.enumerated() {
            let whole = index < copied.whole.count ? copied.whole[index].sequences : 0
            batches.append(id, fresh: whole &+ forgotten, overlapping: overlapping, end: copied.received)
            (forgotten, overlapping) = (0, 0)
        }
    }

    /// - Parameter time: the arrival of the oldest points of cumulative streams that are kept.
    mutating func add(_ copied: CopiedSender, streamsSince time: UnixNanoseconds) {
        let sender = RowIdentity.sender(copied.resource)
        let name = RowIdentity.copied(0, of: source)
        var state = SenderState(firstSeen: copied.firstSeen, lastSeen: copied.lastSeen)
        state.lastEnd = copied.latestEnd
        for one in copied.reported { state.kinds |= StatisticsBit.of(one.kind, one.source) }
        for (ledger, requests) in copied.readings {
            state.note(ledger, requests: requests)
            ledgers.append(ledger, requests: requests, sender: sender, batch: name)
        }
        senders.append(state, of: copied.resource, id: sender, writer: RowIdentity.writer(of: source), revision: 1)
        add(copied.process, of: sender, name)
        totals.append(copied.processTotals, sender: sender, arrival: Int64(clamping: copied.lastSeen))
        let streams = copied.streams.filter { $0.arrival >= time }
        for (arrival, points) in Dictionary(grouping: streams, by: \.arrival) {
            cumulative.append(points.map(\.point), sender: sender, arrival: Int64(clamping: arrival))
            let arrival = CumulativeArrival(
                sender: sender, time: Int64(clamping: arrival), resource: copied.resource, reading: 0)
            arrivals.append(arrival, counted: true)
        }
    }

    /// Adds the figures of a process; those of an hour in `process_hour` are one row.
    private mutating func add(_ process: [ProcessPoint], of sender: UInt64, _ name: [UInt8]) {
        var byHour: [UInt32: ProcessPoint] = [:]
        for point in process {
            let hour = StoredHour.of(Int64(clamping: point.end))
            guard hour < firstHour else {
                processes.append(point, sender: sender, batch: name)
                changes.note(endOfOther: point.end)
                continue
            }
            var sum = byHour[hour] ?? ProcessPoint(start: point.start, end: point.end, statistics: ProcessStatistics())
            (sum.start, sum.end) = (min(sum.start, point.start), max(sum.end, point.end))
            sum.statistics.merge(point.statistics)
            byHour[hour] = sum
        }
        for point in byHour.values { processHours.append(point, sender: sender, batch: name) }
    }

    mutating func add(_ copied: CopiedPoints) {
        let (sender, name) = (RowIdentity.sender(copied.resource), RowIdentity.copied(copied.number, of: source))
        let old = copied.points.filter { StoredHour.of(Int64(clamping: $0.end)) < firstHour }
        let new = copied.points.filter { StoredHour.of(Int64(clamping: $0.end)) >= firstHour }
        hours.append(old, of: copied.resource, sender: sender, batch: name)
        points.append(new, of: copied.resource, sender: sender, batch: name)
        changes.note(new)
        for point in copied.points {
            let day = SeriesDay(point, of: copied.resource)
            if knownSeries.insert(day).inserted { series.append(point.dimensions, of: day) }
        }
    }

    /// Throws if an attribute cannot be encoded.
    mutating func add(_ copied: CopiedDetail) throws {
        let sender = RowIdentity.sender(copied.resource)
        // Spans of one batch came at the same time, and their numbers keep their order.
        let stored = Int64(clamping: copied.received) &+ copied.number % 1_000_000
        try details.append(
            copied.span, of: copied.resource, sender: sender,
            identity: RowIdentity.span(copied.span, of: sender, in: nil), stored: stored)
    }

    /// Adds a call to each day from the first on which it was observed to the last.
    ///
    /// - Parameter oldest: the time before which nothing is kept.
    mutating func add(_ copied: RememberedCall, since oldest: Int64) {
        let (first, last) = (StoredDay.of(max(oldest, copied.first)), StoredDay.of(copied.last))
        guard first <= last else { return }
        for day in first...last {
            calls.append(CallSighting(day: day, environment: copied.environment, call: copied.call))
        }
    }
}

extension ClosedRange<UInt64> {
    fileprivate var sequences: UInt64 { upperBound - lowerBound &+ 1 }
}
