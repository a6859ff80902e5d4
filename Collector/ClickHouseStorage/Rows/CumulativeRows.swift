import MartletPoints
import MartletTelemetry

/// Cumulative figures as rows of `cumulative` and `process_total`.
extension TableRows {
    mutating func append(_ points: [CumulativePoint], sender: UInt64, arrival: Int64) {
        for cumulative in points {
            append { row in
                row.number(StoredHour.of(arrival))
                row.number(sender)
                row.number(arrival)
                row.fixed(cumulative.stream.bytes)
                row.number(Int64(clamping: cumulative.point.start))
                row.number(Int64(clamping: cumulative.point.end))
                row.double(cumulative.unit)
                row.add(cumulative.point.dimensions)
                row.add(cumulative.point.statistics)
            }
        }
    }

    mutating func append(_ totals: [ProcessTotal], sender: UInt64, arrival: Int64) {
        for total in totals {
            append { row in
                row.number(StoredHour.of(arrival))
                row.number(sender)
                row.number(arrival)
                row.number(total.counter.rawValue)
                row.number(Int64(clamping: total.start))
                row.number(Int64(clamping: total.end))
                row.number(total.value)
            }
        }
    }
}
