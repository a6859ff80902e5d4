import MartletStorage
import MartletTelemetry

/// The statements that make hours. They may run again, and beside each other: of two roll-ups the one of more points stays.
enum HourStatement {
    /// Returns the statement for the points of an hour.
    ///
    /// - Parameter rows: the SELECT of the columns of `point`.
    static func sql(of hour: Int64, rows: String) -> String {
        let (from, to) = (hour * StoredHour.length, (hour + 1) * StoredHour.length)
        let dimensions =
            "environment, version, instance, kind, spans, method, host, port, endpoint, status, error, rule, outcome"
        // Old servers leave columns out of a SELECT that only its own condition uses, and then miss them: so the end is used here
        // too.
        return """
            INSERT INTO hour (\(Schema.hour.columnList)) SELECT toUInt32(\(hour)), service, series, toInt64(\(to)), sender, \
            toFixedString('', 16), toInt64(\(from)), toUInt32(scale + 20), sum(points), \(dimensions), sum(count), sum(total), \
            minIf(low, count > 0), minIf(has_low, count > 0), maxIf(high, count > 0), minIf(has_high, count > 0), sum(zeros), scale, \
            tupleElement(sumMap(indexes, counts), 1), tupleElement(sumMap(indexes, counts), 2), sum(sent), sum(received), \
            sumForEach(phase_counts), sumForEach(phase_seconds) \
            FROM (\(rows)) GROUP BY service, series, sender, scale, \(dimensions) HAVING max(end_ns) > 0
            """
    }

    /// Returns the statement for the figures of processes in an hour.
    static func ofProcesses(in hour: Int64) -> String {
        """
        INSERT INTO process_hour (\(Schema.processHour.columnList)) SELECT toUInt32(\(hour)), sender, max(end_ns), \
        toFixedString('', 16), toUInt32(0), toUInt64(0), min(start_ns), sum(points), \(ProcessStatistics.sums) \
        FROM process FINAL WHERE hour = \(hour) AND \(ProcessStatistics.isTold) GROUP BY sender
        """
    }
}
