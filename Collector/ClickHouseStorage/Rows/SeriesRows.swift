import MartletPoints
import MartletTelemetry

/// A day on which a series of a service has points.
struct SeriesDay: Hashable {
    let service: String
    let series: UInt64
    let day: UInt32

    init(_ point: RequestPoint, of resource: TelemetryResource) {
        service = resource.service
        series = PointSeries.of(point.series).id
        day = StoredDay.of(Int64(clamping: point.end))
    }
}

/// Series as rows of `series`.
extension TableRows {
    mutating func append(_ dimensions: RequestDimensions, of day: SeriesDay) {
        append { row in
            row.text(day.service)
            row.number(day.series)
            row.number(day.day)
            row.add(dimensions)
        }
    }
}
