import GRDB
import MartletStorage

/// The SQL of the question.
extension RequestCellsQuery {
    /// The statement that counts the requests of each cell that has some: `time` and `range` are its indexes.
    var statement: SQL {
        let ends = times.map { Int64(clamping: $0.to) }
        let window = TimeWindow(from: times.first?.from ?? 0, to: times.last?.to ?? 0)
        return """
            SELECT \(Self.index(of: "start_time", among: ends)) AS time,
                \(Self.index(of: "duration", among: durations.map { Int64(clamping: $0) })) AS range, count(*) AS count
            FROM detail WHERE \(RequestsQuery(window: window, filter: filter, limit: 0).condition)
            GROUP BY time, range
            """
    }

    /// Returns the expression of the index of the first bound that a column does not exceed; the number of bounds if it exceeds
    /// them all.
    private static func index(of column: SQL, among bounds: [Int64]) -> SQL {
        guard !bounds.isEmpty else { return "0" }
        let cases = bounds.enumerated().map { "WHEN \(column) <= \($1) THEN \($0)" as SQL }
        return "CASE \(cases.joined(separator: " ")) ELSE \(bounds.count) END"
    }
}
