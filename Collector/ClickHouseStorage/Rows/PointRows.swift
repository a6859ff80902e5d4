import MartletStorage
import MartletTelemetry
import Synchronization

/// Points as rows of `point` or `hour`.
extension TableRows {
    /// Appends points that form one part of a batch.
    ///
    /// - Parameter batch: 16 bytes that identify the points.
    mutating func append(
        _ points: [RequestPoint], of resource: TelemetryResource, sender: UInt64, batch: [UInt8]
    ) {
        let sender = PointSender(resource, id: sender)
        // A batch may have several points of one series and interval. Their positions distinguish them.
        var ordinals: [PointKey: UInt32] = [:]
        // The loop uses indexes, because a copy of a point costs as much as a third of its row.
        for index in points.indices {
            let series = PointSeries.of(points[index].series)
            let key = PointKey(series: series.id, start: points[index].start, end: points[index].end)
            let ordinal = ordinals[key, default: 0]
            ordinals[key] = ordinal + 1
            append { $0.add(points[index], of: series, from: sender, batch: batch, ordinal: ordinal) }
        }
    }

    /// Appends the difference of a cumulative point.
    ///
    /// - Parameters:
    ///   - batch: 16 bytes that identify its stream.
    ///   - revision: of two rows of one difference, the one with the higher number wins.
    mutating func append(
        difference: RequestPoint, of resource: TelemetryResource, sender: UInt64, batch: [UInt8], revision: UInt64
    ) {
        let (series, sender) = (PointSeries.of(difference.series), PointSender(resource, id: sender))
        append { row in
            row.add(difference, of: series, from: sender, batch: batch, ordinal: 0)
            row.number(revision)
        }
    }

    private mutating func add(
        _ point: RequestPoint, of series: PointSeries, from sender: PointSender, batch: [UInt8], ordinal: UInt32
    ) {
        let end = Int64(clamping: point.end)
        number(StoredHour.of(end))
        columns(sender.service)
        number(series.id)
        number(end)
        number(sender.id)
        fixed(batch)
        number(Int64(clamping: point.start))
        number(ordinal)
        number(UInt64(1))
        columns(sender.columns)
        columns(series.columns)
        add(point.statistics)
    }

    private struct PointKey: Hashable {
        var series: UInt64
        var start: UnixNanoseconds
        var end: UnixNanoseconds
    }

    /// Adds the columns of the dimensions; all empty for `nil`.
    mutating func add(_ dimensions: RequestDimensions?) {
        text(dimensions?.kind.rawValue)
        flag(dimensions?.source == .spans)
        text(dimensions?.method)
        text(dimensions?.host)
        number(Int64(dimensions?.port ?? 0))
        text(dimensions?.endpoint)
        number(Int64(dimensions?.status ?? 0))
        text(dimensions?.error)
        text(dimensions?.rule)
    }

    /// Adds the columns starting at `count`.
    mutating func add(_ statistics: RequestStatistics) {
        let sketch = statistics.duration
        number(sketch.count)
        double(sketch.sum)
        double(sketch.min ?? 0)
        flag(sketch.min != nil)
        double(sketch.max ?? 0)
        flag(sketch.max != nil)
        number(sketch.zeroCount)
        number(Int8(clamping: sketch.scale))
        filled(sketch.buckets, offset: sketch.offset)
        number(statistics.bytesSent)
        number(statistics.bytesReceived)
        let phases = statistics.phases.isEmpty ? [] : RequestPhase.allCases
        array(phases) { $0.number(statistics.phases[$1].count) }
        array(phases) { $0.double(statistics.phases[$1].seconds) }
    }
}

/// The columns shared by all points of a sender.
private struct PointSender {
    let id: UInt64
    let service: [UInt8]
    let columns: [UInt8]

    init(_ resource: TelemetryResource, id: UInt64) {
        self.id = id
        var row = TableRows(Schema.point)
        row.text(resource.service)
        service = row.bytes
        row = TableRows(Schema.point)
        for text in [resource.environment, resource.version, resource.instance] { row.text(text) }
        columns = row.bytes
    }
}

/// Outcomes as numbers in a column.
enum OutcomeCode {
    private static let codes: [RequestOutcome] = [
        .success, .transportFailure, .clientError, .serverError, .hung, .cancelled,
    ]

    static func of(_ outcome: RequestOutcome) -> UInt8 { UInt8(codes.firstIndex(of: outcome) ?? 0) }

    static func outcome(_ code: UInt8) -> RequestOutcome? {
        codes.indices.contains(Int(code)) ? codes[Int(code)] : nil
    }
}

/// The columns shared by all points of a series. They are made once and cached, because the same series have a point in each batch.
struct PointSeries {
    /// See ``RowIdentity/series(_:)``.
    let id: UInt64
    /// The columns from `kind` to `outcome`.
    let columns: [UInt8]

    private init(_ series: SharedDimensions) {
        let dimensions = series.value
        id = RowIdentity.series(dimensions)
        var row = TableRows(Schema.point)
        row.add(dimensions)
        row.number(OutcomeCode.of(dimensions.outcome))
        columns = row.bytes
    }

    private static let known = Mutex<[SharedDimensions: PointSeries]>([:])
    private static let maxKnown = 100_000

    static func of(_ series: SharedDimensions) -> PointSeries {
        if let known = known.withLock({ $0[series] }) { return known }
        let made = PointSeries(series)
        known.withLock { known in
            if known.count >= maxKnown { known = [:] }
            known[series] = made
        }
        return made
    }
}

/// A day with points of one series of a service.
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
