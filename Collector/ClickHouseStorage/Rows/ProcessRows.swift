import MartletStorage
import MartletTelemetry

/// Figures of processes as rows of `process`.
extension TableRows {
    /// - Parameters:
    ///   - batch: 16 bytes that identify the batch, or the point if it has no batch.
    ///   - ordinal: distinguishes points of a batch with the same end.
    ///   - revision: if there are two rows for one difference, the one with the higher number wins.
    mutating func append(
        _ point: ProcessPoint, sender: UInt64, batch: [UInt8], ordinal: UInt32 = 0, revision: UInt64 = 0
    ) {
        let (end, statistics) = (Int64(clamping: point.end), point.statistics)
        let gauges = ProcessGauge.allCases.map {
            statistics.gauges[$0] ?? ProcessStatistics.Samples(count: 0, sum: 0, max: 0)
        }
        append { row in
            row.number(UInt32(hourOf: end))
            row.number(sender)
            row.number(end)
            row.fixed(batch)
            row.number(ordinal)
            row.number(revision)
            row.number(Int64(clamping: point.start))
            row.number(UInt64(1))
            row.number(statistics.counts.keys.reduce(UInt8(0)) { $0 | 1 << $1.rawValue })
            row.array(ProcessCounter.allCases) { $0.number(statistics.counts[$1] ?? 0) }
            row.number(statistics.covered)
            row.array(gauges) { $0.number($1.count) }
            row.array(gauges) { $0.number($1.sum) }
            row.array(gauges) { $0.number($1.max) }
        }
    }
}

extension ProcessStatistics {
    /// The condition that a row has figures. A difference that was later replaced by an empty one has none.
    static let hasFigures = "(counters > 0 OR arraySum(gauge_counts) > 0)"

    /// The expressions that add up rows of `process` or `process_hour`, by column.
    static let sums: Selection = [
        "counters": "groupBitOr(counters)", "counts": "sumForEach(counts)", "covered": "sum(covered)",
        "gauge_counts": "sumForEach(gauge_counts)", "gauge_sums": "sumForEach(gauge_sums)",
        "gauge_maxima": "maxForEach(gauge_maxima)",
    ]

    init(_ reader: inout RowReader) throws {
        self.init()
        let counters = try reader.number("counters", UInt8.self)
        let counts = try reader.numbers("counts", UInt64.self)
        covered = try reader.number("covered")
        for (counter, count) in zip(ProcessCounter.allCases, counts) where counters & 1 << counter.rawValue != 0 {
            self.counts[counter] = count
        }
        let samples = try ["gauge_counts", "gauge_sums", "gauge_maxima"].map { try reader.numbers($0, UInt64.self) }
        for (index, gauge) in ProcessGauge.allCases.enumerated()
        where samples.allSatisfy({ index < $0.count }) && samples[0][index] > 0 {
            gauges[gauge] = Samples(count: samples[0][index], sum: samples[1][index], max: samples[2][index])
        }
    }
}
