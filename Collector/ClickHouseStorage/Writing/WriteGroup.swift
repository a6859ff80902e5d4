import MartletStorage
import MartletTelemetry

/// The rows of batches that are stored together.
struct WriteGroup {
    var known: KnownBatches
    var points = TableRows(Schema.point)
    var senders = TableRows(Schema.sender)
    var series = TableRows(Schema.series)
    var details = TableRows(Schema.detail)
    private var processes = TableRows(Schema.process)
    private var cumulative = TableRows(Schema.cumulative)
    private var totals = TableRows(Schema.processTotal)
    private var arrivals = TableRows(Schema.arrival)
    private var ledgers = TableRows(Schema.ledger)
    private var countedSpans: CountedSpans
    private var newEnds: NewEnds
    /// The rows for the batches' numbers, which are inserted last.
    private(set) var batches = TableRows(Schema.batch)
    /// The points and spans that were not stored before.
    var added: [InstanceMetrics] = []
    var spans = 0
    private var changesByOthers = HourChanges()
    private var knownSpans: Set<SpanKey>
    /// The spans in the traces of the batches' requests, by sender. They hold only what ``RequestSpans`` uses.
    private var traces: [UInt64: [SpanRecord]]

    private struct SpanKey: Hashable {
        var trace: TraceID
        var span: SpanID
        var identity: UInt64
    }

    /// Looks up which of the batches, their contents and their spans are known.
    init(_ batches: [PendingBatch], _ client: ClickHouseClient) async throws {
        var (contents, spans, names) = ([String](), [SpanRecord](), [[UInt8]]())
        var requests: [UInt64: Set<TraceID>] = [:]
        for batch in batches where batch.id == nil {
            switch batch.contents {
            case .metrics(let metrics):
                for one in metrics where !one.resource.isMartlet {
                    let sender = RowIdentity.sender(one.resource)
                    contents += Self.parts(of: one, sender: sender).map { Self.text(of: $0.name) }
                    if one.isCumulative { contents.append(Self.text(of: RowIdentity.cumulative(one, of: sender))) }
                }
            case .details(let details):
                spans += details.flatMap(\.details)
                for one in details where !one.resource.isMartlet {
                    names.append(CountedSpans.name(of: one))
                    let traces = one.details.filter { $0.request != nil }.map(\.traceID)
                    requests[RowIdentity.sender(one.resource), default: []].formUnion(traces)
                }
            }
        }
        known = try await KnownBatches(touching: batches.compactMap(\.id), contents: contents, in: client)
        // Another collector may be storing the same spans now. Before it stores the first span, it records that they have been
        // counted.
        knownSpans = try await Self.known(spans, in: client)
        traces = try await Self.outlines(ofTraces: requests, in: client)
        countedSpans = try await CountedSpans(named: names, in: client)
        newEnds = try await NewEnds(in: batches, client)
    }

    /// The rows of each table except ``batches``, in the order of insertion. Details come after the points counted from them,
    /// because known spans are not counted again. Arrivals come after their figures.
    var inOrder: [TableRows] {
        [
            points, processes, cumulative, totals, arrivals, ledgers, newEnds.rows, senders, series, countedSpans.rows,
            details,
        ]
    }

    /// The hours of points, figures of processes and readings of ledgers.
    var changes: HourChanges {
        var changes = changesByOthers
        for metrics in added { changes.note(metrics.points) }
        return changes
    }

    /// Adds points of a batch without a number. Unless their sender is a Martlet agent, known points are left out: see
    /// ``Storage/store(_:of:)``.
    ///
    /// - Returns: the points that were added.
    mutating func addUnnumbered(_ metrics: InstanceMetrics, sender: UInt64) -> [RequestPoint] {
        guard !metrics.resource.isMartlet else {
            points.append(metrics.points, of: metrics.resource, sender: sender, batch: Self.randomName())
            return metrics.points
        }
        var new: [RequestPoint] = []
        for part in Self.parts(of: metrics, sender: sender) {
            let name = Self.text(of: part.name)
            guard !known.contains(name) else { continue }
            points.append(
                part.points, of: metrics.resource, sender: sender, batch: part.name, identities: part.identities)
            batches.append(BatchID(instance: name, sequence: 0, signal: .metrics), end: part.points[0].end)
            new += part.points
        }
        return new
    }

    /// Adds the cumulative figures of metrics. Leaves out known figures of a batch without a number. The figures are counted
    /// later (``CumulativePass``).
    ///
    /// - Returns: whether they were added; `nil` if there are none.
    mutating func addCumulative(_ metrics: InstanceMetrics, of batch: PendingBatch, sender: UInt64) -> Bool? {
        guard metrics.isCumulative else { return nil }
        if batch.id == nil, !metrics.resource.isMartlet {
            let name = Self.text(of: RowIdentity.cumulative(metrics, of: sender))
            guard !known.contains(name) else { return false }
            batches.append(BatchID(instance: name, sequence: 0, signal: .metrics), end: metrics.latestEnd)
        }
        let arrival = CumulativeArrival(
            sender: sender, time: Int64(clamping: batch.arrival), resource: metrics.resource,
            reading: Int64(clamping: metrics.ledger?.time ?? 0))
        cumulative.append(metrics.cumulative, sender: sender, arrival: arrival.time)
        totals.append(metrics.processTotals, sender: sender, arrival: arrival.time)
        arrivals.append(arrival, counted: false)
        return true
    }

    mutating func add(_ process: [ProcessPoint], of resource: TelemetryResource, sender: UInt64, batch: BatchID?) {
        var ordinals: [UnixNanoseconds: UInt32] = [:]
        let name = batch.map(RowIdentity.batch) ?? (resource.isMartlet ? Self.randomName() : nil)
        for point in process {
            // Points of one batch are distinguished by their position, and other points by their figures.
            let ordinal = name == nil ? 0 : ordinals[point.end, default: 0]
            ordinals[point.end] = ordinal + 1
            changesByOthers.note(endOfOther: point.end)
            processes.append(
                point, sender: sender, batch: name ?? RowIdentity.contents(point, of: sender), ordinal: ordinal)
        }
    }

    /// Adds the ends of processes that are not stored yet, and returns them.
    mutating func add(_ ends: [ReportedEnd], from reporter: TelemetryResource) -> [ReportedEnd] {
        newEnds.add(ends, from: reporter)
    }

    /// Whether a span of a batch has not been stored yet. Records the span.
    mutating func isNew(_ span: SpanRecord, identity: UInt64, in batch: BatchID?) -> Bool {
        batch != nil
            || knownSpans.insert(SpanKey(trace: span.traceID, span: span.spanID, identity: identity)).inserted
    }

    /// Returns the requests among spans that are new, and records the spans.
    mutating func points(of details: DetailsBatch, sender: UInt64) -> [RequestPoint] {
        let points = details.points(besides: traces[sender] ?? [])
        if !details.resource.isMartlet { traces[sender, default: []] += details.details }
        return points
    }

    /// Records that spans of a batch without a number have been counted. Returns `false` if they had been already.
    mutating func noteCounted(_ details: DetailsBatch) -> Bool { countedSpans.note(details) }

    mutating func add(_ reading: LedgerReading, requests: UInt64, sender: UInt64, batch: BatchID?) {
        changesByOthers.note(reading: reading.time)
        ledgers.append(
            reading, requests: requests, sender: sender, batch: batch.map(RowIdentity.batch) ?? Self.randomName())
    }

    /// Adds the row of a batch's number.
    mutating func note(_ id: BatchID, _ arrival: BatchArrival, of batch: PendingBatch) {
        let end = batch.latestTime
        batches.append(
            id, fresh: arrival.newSequences, overlapping: arrival.outcome == .overlapping ? 1 : 0,
            end: end > 0 ? end : batch.arrival)
    }

    /// The points of a batch without a number that have the same end.
    private typealias Part = (name: [UInt8], points: [RequestPoint], identities: [UInt64])

    /// Returns the points as they arrived, so that a point that is sent again, in whatever body, makes the same row.
    private static func parts(of metrics: InstanceMetrics, sender: UInt64) -> [Part] {
        let arrived = metrics.arrived
        let points = arrived.isEmpty ? metrics.points : arrived.separated(metrics.points)
        let ends = Dictionary(grouping: points.indices) { points[$0].end }
        return ends.sorted { $0.key < $1.key }.map { _, indices in
            let points = indices.map { points[$0] }
            guard !arrived.isEmpty else { return (RowIdentity.contents(points, of: sender), points, []) }
            let identities = indices.map { arrived.identities[$0] }
            return (RowIdentity.arrived(identities, of: sender), points, identities)
        }
    }

    /// Returns a text that cannot be the instance of a numbered batch, because such an instance contains no `=`.
    private static func text(of name: [UInt8]) -> String { "=" + name.hexDigits }

    private static func randomName() -> [UInt8] { (0..<16).map { _ in UInt8.random(in: 0...255) } }

    /// Returns the stored spans of senders in some traces. Of many spans, it reads only some.
    private static func outlines(
        ofTraces traces: [UInt64: Set<TraceID>], in client: ClickHouseClient
    ) async throws -> [UInt64: [SpanRecord]] {
        let keys = Set(traces.values.joined()).map { "(\($0.low), \($0.high))" }
        guard !keys.isEmpty else { return [:] }
        let rows = try await client.rows(
            RowReader.outline + ["sender"],
            """
            FROM detail WHERE (trace_low, trace_high) IN (\(keys.joined(separator: ", "))) \
            AND sender IN \(SQLText.list(traces.keys.sorted())) LIMIT \(RequestSpans.maxStored) BY trace_low, trace_high \
            LIMIT \(RequestSpans.maxStoredOfAll * traces.count)
            """
        ) { (sender: try $0.number("sender", UInt64.self), span: try $0.spanOutline()) }
        return rows.reduce(into: [:]) { found, row in
            if let span = row.span { found[row.sender, default: []].append(span) }
        }
    }

    private static func known(_ spans: [SpanRecord], in client: ClickHouseClient) async throws -> Set<SpanKey> {
        guard !spans.isEmpty else { return [] }
        let keys = spans.map { "(\($0.traceID.low), \($0.traceID.high), \($0.spanID.value))" }
        let rows = try await client.rows(
            ["trace_high", "trace_low", "span", "identity"],
            "FROM detail WHERE (trace_low, trace_high, span) IN (\(keys.joined(separator: ", ")))"
        ) { row -> SpanKey? in
            guard let trace = TraceID(high: try row.number("trace_high"), low: try row.number("trace_low")),
                let span = SpanID(try row.number("span", UInt64.self))
            else { return nil }
            return SpanKey(trace: trace, span: span, identity: try row.number("identity"))
        }
        return Set(rows.compactMap(\.self))
    }
}

/// The intake requests without a batch number whose spans have been counted. Each is recorded after its points and before its
/// first span is stored. Without this record, a request that is resent after only some of its spans were stored would look like
/// one with new spans.
struct CountedSpans {
    /// The records to store.
    private(set) var rows = TableRows(Schema.countedSpans)
    private var known: Set<[UInt8]>

    /// Looks up which of these requests have been counted.
    init(named names: [[UInt8]], in client: ClickHouseClient) async throws {
        guard !names.isEmpty else {
            known = []
            return
        }
        let list = names.map(SQLText.bytes).joined(separator: ", ")
        known = Set(
            try await client.rows(["name"], "FROM counted_spans WHERE name IN (\(list))", distinct: true) {
                try $0.bytes("name", 16)
            })
    }

    /// Returns 16 bytes that identify spans of a sender that arrived together.
    static func name(of details: DetailsBatch) -> [UInt8] {
        RowIdentity.spans(details.details, of: RowIdentity.sender(details.resource))
    }

    /// Records that spans have been counted. Returns `false` if they had been already.
    mutating func note(_ details: DetailsBatch) -> Bool {
        let name = Self.name(of: details)
        guard known.insert(name).inserted else { return false }
        rows.append { row in
            row.number(UInt32(dayOf: Int64(clamping: details.latestEnd)))
            row.fixed(name)
        }
        return true
    }
}
