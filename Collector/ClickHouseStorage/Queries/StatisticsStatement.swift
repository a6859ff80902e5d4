import MartletStorage
import MartletTelemetry

/// The statement that adds up a query's points in ClickHouse, and its rows. A row has the sums of one group, one slot, one class of
/// requests and one scale, so only what is shown is transferred. As with any store, quantiles are computed from the buckets
/// afterwards.
struct StatisticsStatement {
    /// The largest number of rows of a group in one slot: six outcomes of each source, changed by rules or not. Further scales are
    /// rare.
    private static let rowsOfGroup = 24

    let dimensions: [Dimension]
    let grid: SlotGrid?
    private let source: PointSource
    private let filter: RequestFilter
    /// The condition on the values of groups.
    private let condition: String
    private let limit: Int

    /// - Parameters:
    ///   - dimensions: the dimensions to group by.
    ///   - limit: the largest number of groups, in which each slot of a group counts as one.
    init(
        _ query: StatisticsQuery, by dimensions: [Dimension], in grid: SlotGrid?, from source: PointSource, limit: Int
    ) {
        self.dimensions = dimensions
        self.grid = grid
        self.source = source
        self.limit = limit
        filter = query.filter
        if case .named(let groups) = query.groups, !query.by.isEmpty {
            // ClickHouse reads a list of tuples of one element as a list of values.
            let values = groups.map { "(\($0.map { SQLText.quoted($0 ?? "") }.joined(separator: ", ")))" }
            let names = query.by.map(\.expression).joined(separator: ", ")
            condition =
                groups.isEmpty ? "0" : "(\(names)) IN (\(values.joined(separator: ", ")))\(Self.services(query))"
        } else {
            condition = "1"
        }
    }

    /// Returns the condition on the services of a query's groups. The table's key uses it to find their points.
    private static func services(_ query: StatisticsQuery) -> String {
        guard case .named(let groups) = query.groups, let index = query.by.firstIndex(of: .service) else { return "" }
        return " AND service IN \(SQLText.list(Set(groups.map { $0[index] ?? "" }).sorted()))"
    }

    private var sql: String {
        let values = dimensions.enumerated().map { "\($1.expression) AS v\($0)" }
        let names = dimensions.indices.map { "v\($0)" }
        let columns =
            // Shards answer with a column, so it must not be a constant elsewhere.
            values + [
                "\(grid?.slot(of: "end_ns") ?? "materialize(toUInt64(0))") AS slot", "kind AS k",
                "rule != '' AS changed",
                Self.pointColumns,
            ]
        return """
            SELECT \((names + Self.classes).joined(separator: ", ")), \
            sum(count), sum(total), minIf(low, count > 0), minIf(has_low, count > 0), maxIf(high, count > 0), \
            minIf(has_high, count > 0), sum(zeros), sumMap(indexes, counts), sum(sent), sum(received), \
            sumForEach(phase_counts), sumForEach(phase_seconds), max(end_ns), min(end_ns) \
            FROM (\(source.rows(columns.joined(separator: ", "), of: filter, where: condition))) \
            GROUP BY \((names + Self.classes).joined(separator: ", ")) \
            LIMIT \(limit * Self.rowsOfGroup + 1)
            """
    }

    private static let classes = ["slot", "k", "spans", "changed", "outcome", "scale"]

    private static let pointColumns = """
        spans, outcome, scale, count, total, low, has_low, high, has_high, zeros, indexes, counts, sent, received, \
        phase_counts, phase_seconds, end_ns
        """

    /// Returns the groups, each with its slots; each with one slot if there is no grid.
    func groups(_ client: ClickHouseClient) async throws -> Result<[[RequestGroup]], TooManyGroups> {
        let slots = grid?.count ?? 1
        let rows = try await client.rows(sql) { try row(&$0) }
        guard rows.count <= limit * Self.rowsOfGroup else { return .failure(TooManyGroups(limit: limit)) }
        var (groups, indexes) = ([[RequestGroup]](), [[String?]: Int]())
        for row in rows where row.slot < slots {
            let index = indexes[row.values] ?? groups.count
            if index == groups.count {
                guard groups.count < limit / max(1, slots) else { return .failure(TooManyGroups(limit: limit)) }
                indexes[row.values] = index
                groups.append(Array(repeating: RequestGroup(values: row.values), count: slots))
            }
            groups[index][row.slot].add(row.requests, until: row.end, from: row.firstEnd) { row.sums.add(to: &$0) }
        }
        return .success(groups)
    }

    private struct Row {
        var values: [String?]
        var slot: Int
        var requests: RequestClass
        var sums: StatisticsRow
        var end: UnixNanoseconds
        var firstEnd: UnixNanoseconds
    }

    private func row(_ reader: inout RowReader) throws -> Row {
        let values = try dimensions.map { $0.value(of: try reader.text()) }
        let slot = Int(clamping: try reader.number(UInt64.self))
        let (kind, isOfSpans) = (RequestKind(rawValue: try reader.text()), try reader.flag())
        let isChanged = try reader.flag()
        guard let kind, let outcome = OutcomeCode.outcome(try reader.number(UInt8.self)) else {
            throw ClickHouseError.malformed
        }
        let sums = try StatisticsRow(&reader)
        return Row(
            values: values, slot: slot,
            requests: RequestClass(kind: kind, outcome: outcome, isOfSpans: isOfSpans, isChanged: isChanged),
            sums: sums, end: UInt64(clamping: try reader.number(Int64.self)),
            firstEnd: UInt64(clamping: try reader.number(Int64.self)))
    }
}

/// The sums of points of one scale, as read from the answer.
struct StatisticsRow {
    private var sketch = SparseHistogram()
    private var sent: UInt64
    private var received: UInt64
    private var phases = PhaseTotals()
    private var count: UInt64

    /// Reads the columns from `scale` to the phases.
    init(_ reader: inout RowReader) throws {
        sketch.scale = Int32(try reader.number(Int8.self))
        count = try reader.number()
        sketch.sum = try reader.double()
        let (low, hasLow, high, hasHigh) = (
            try reader.double(), try reader.flag(), try reader.double(), try reader.flag()
        )
        (sketch.min, sketch.max) = (hasLow ? low : nil, hasHigh ? high : nil)
        sketch.zeroCount = try reader.number()
        let indexes = try reader.array { try $0.number(Int32.self) }
        let counts = try reader.array { try $0.number(UInt64.self) }
        sketch.buckets = Array(zip(indexes, counts)).map { (index: $0, count: $1) }
        (sent, received) = (try reader.number(), try reader.number())
        let phaseCounts = try reader.array { try $0.number(UInt64.self) }
        let phaseSeconds = try reader.array { try $0.double() }
        for (phase, total) in zip(RequestPhase.allCases, zip(phaseCounts, phaseSeconds)) where total.0 > 0 {
            phases[phase] = PhaseTotals.Total(count: total.0, seconds: total.1)
        }
    }

    /// The statistics of a single point, at their own scale; `nil` if they are invalid.
    var ofPoint: RequestStatistics? {
        var (histogram, sketch) = (ExponentialHistogram(scale: sketch.scale), sketch)
        sketch.bucketCount = sketch.buckets.count
        sketch.valuesInBuckets = sketch.buckets.reduce(0) { $0 &+ $1.count }
        guard histogram.merge(sketch) else { return nil }
        return RequestStatistics(duration: histogram, bytesSent: sent, bytesReceived: received)
    }

    func add(to statistics: inout RequestStatistics) {
        addSketch(to: &statistics.duration)
        statistics.bytesSent &+= sent
        statistics.bytesReceived &+= received
        statistics.phases.merge(phases)
    }

    /// The sum of sketches may have more buckets than one sketch, so it is added in parts. Adding the bounds twice is harmless.
    private func addSketch(to histogram: inout ExponentialHistogram) {
        var rest = sketch.buckets[...]
        var isFirst = true
        while isFirst || !rest.isEmpty {
            var part = sketch
            part.buckets = Array(rest.prefix(ExponentialHistogram.maxBuckets))
            part.bucketCount = part.buckets.count
            part.valuesInBuckets = part.buckets.reduce(0) { $0 &+ $1.count }
            if !isFirst { (part.sum, part.zeroCount) = (0, 0) }
            _ = histogram.merge(part)
            rest = rest.dropFirst(part.bucketCount)
            isFirst = false
        }
    }
}
