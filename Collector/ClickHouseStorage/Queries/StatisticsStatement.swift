import MartletStorage
import MartletTelemetry

/// The statement that adds up a query's points in ClickHouse. Each row of its answer has the sums for one group, slot, class of
/// requests and scale, so single points are not transferred. The collector then computes quantiles from the buckets, as with
/// any store.
struct StatisticsStatement {
    /// The largest number of rows for a group in one slot: six outcomes from each of two sources, each changed by rules or not.
    /// More than one scale is rare.
    private static let rowsOfGroup = 24

    let dimensions: [Dimension]
    let grid: SlotGrid?
    private let source: PointSource
    private let filter: RequestFilter
    private let by: [Dimension]
    /// The condition that selects the wanted groups.
    private let condition: String
    /// The part of the groups to add up; `nil` for all.
    var portion: GroupPortion?
    private let limit: Int

    /// - Parameters:
    ///   - dimensions: the dimensions to group by.
    ///   - limit: the largest number of groups; each slot of a group counts as one.
    init(
        _ query: StatisticsQuery, by dimensions: [Dimension], in grid: SlotGrid?, from source: PointSource, limit: Int
    ) {
        self.dimensions = dimensions
        self.grid = grid
        self.source = source
        self.limit = limit
        filter = query.filter
        (by, condition) = (query.by, query.groupCondition(in: source))
    }

    /// The columns of points with the values of groups, and the rest of the statement.
    private var statement: (columns: Selection, source: String) {
        let values = dimensions.enumerated().map { "\(source.expression(of: $1)) AS v\($0)" }
        let conditions = portion.map { "\(condition) AND \($0.condition(by.map(source.expression)))" } ?? condition
        let classes = Selection(dimensions.indices.map { "v\($0)" } + ["slot", "k", "spans", "changed", "outcome"])
        let columns =
            // Shards answer with a column, so the slot must not be a constant on the server that combines their answers.
            values + [
                "\(grid?.slot(of: "end_ns") ?? "materialize(toUInt64(0))") AS slot", "kind AS k",
                "rule != '' AS changed", "spans, outcome, end_ns", StatisticsRow.sums.names.joined(separator: ", "),
            ]
        return (
            classes + StatisticsRow.sums + ["end": "max(end_ns)", "first_end": "min(end_ns)"],
            """
            FROM (\(source.rows(columns.joined(separator: ", "), of: filter, where: conditions))) \
            GROUP BY \(classes.list), scale LIMIT \(limit * Self.rowsOfGroup + 1)
            """
        )
    }

    /// Returns the groups, each with its slots. Without a grid, each group has one slot.
    func groups(_ client: ClickHouseClient) async throws -> Result<[[RequestGroup]], TooManyGroups> {
        let slots = grid?.count ?? 1
        let (columns, source) = statement
        let rows = try await client.rows(columns, source) { try row(&$0) }
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
        let values = try dimensions.enumerated().map { source.value(of: $1, try reader.text("v\($0)")) }
        let kind = RequestKind(rawValue: try reader.text("k"))
        guard let kind, let outcome = RequestOutcome(code: try reader.number("outcome")) else {
            throw ClickHouseError.malformed("it has an unknown kind or outcome")
        }
        return Row(
            values: values, slot: Int(clamping: try reader.number("slot", UInt64.self)),
            requests: RequestClass(
                kind: kind, outcome: outcome, comesFromSpans: try reader.flag("spans"),
                isChanged: try reader.flag("changed")
            ),
            sums: try StatisticsRow(&reader), end: try reader.time("end"), firstEnd: try reader.time("first_end"))
    }
}

extension StatisticsQuery {
    /// Returns the condition that selects the wanted groups.
    func groupCondition(in source: PointSource) -> String {
        guard case .named(let groups) = groups, !by.isEmpty else { return "1" }
        guard !groups.isEmpty else { return "0" }
        // ClickHouse reads a list of tuples of one element as a list of values.
        let values = groups.map { "(\($0.map { SQLText.quoted($0 ?? "") }.joined(separator: ", ")))" }
        let names = by.map(source.expression).joined(separator: ", ")
        return "(\(names)) IN (\(values.joined(separator: ", ")))\(services(of: groups))"
    }

    /// Returns the condition on the services of groups. With it, ClickHouse finds their points by the table's key.
    private func services(of groups: [[String?]]) -> String {
        guard let index = by.firstIndex(of: .service) else { return "" }
        return " AND service IN \(SQLText.list(Set(groups.map { $0[index] ?? "" }).sorted()))"
    }
}

/// The sums of points of one scale, as read from the answer.
struct StatisticsRow {
    private var sketch = SparseHistogram()
    private var sent: UInt64
    private var received: UInt64
    private var phases = PhaseTotals()
    private var count: UInt64

    /// The columns of points, each with its sum for points of one scale.
    static let sums: Selection = [
        "count": "sum(count)", "total": "sum(total)", "low": "minIf(low, count > 0)",
        "has_low": "minIf(has_low, count > 0)", "high": "maxIf(high, count > 0)",
        "has_high": "minIf(has_high, count > 0)", "zeros": "sum(zeros)", "scale": "scale",
        "indexes": "tupleElement(sumMap(indexes, counts), 1)", "counts": "tupleElement(sumMap(indexes, counts), 2)",
        "sent": "sum(sent)", "received": "sum(received)", "phase_counts": "sumForEach(phase_counts)",
        "phase_seconds": "sumForEach(phase_seconds)",
    ]

    init(_ row: inout RowReader) throws {
        sketch.scale = Int32(try row.number("scale", Int8.self))
        count = try row.number("count")
        sketch.sum = try row.double("total")
        sketch.min = try row.flag("has_low") ? try row.double("low") : nil
        sketch.max = try row.flag("has_high") ? try row.double("high") : nil
        sketch.zeroCount = try row.number("zeros")
        let (indexes, counts) = (try row.numbers("indexes", Int32.self), try row.numbers("counts", UInt64.self))
        sketch.buckets = Array(zip(indexes, counts)).map { (index: $0, count: $1) }
        (sent, received) = (try row.number("sent"), try row.number("received"))
        let phaseCounts = try row.numbers("phase_counts", UInt64.self)
        let phaseSeconds = try row.doubles("phase_seconds")
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

    /// Adds the sketch in parts, because a sum of sketches may have more buckets than one sketch. Adding its minimum and
    /// maximum with each part is harmless.
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
