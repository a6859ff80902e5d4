import MartletStorage
import MartletTelemetry
import Synchronization

/// Points as rows of `point` or `difference`.
extension TableRows {
    /// Appends points that share one identity: those of a batch, or of a part of it.
    ///
    /// - Parameters:
    ///   - batch: 16 bytes that identify the points.
    ///   - identities: the identity of each point, if they have some instead of a batch: see ``ArrivedPoints``.
    mutating func append(
        _ points: [RequestPoint], of resource: TelemetryResource, sender: UInt64, batch: [UInt8],
        identities: [UInt64] = []
    ) {
        let sender = PointSender(resource, id: sender)
        // A batch may have several points of one series and interval. Their positions distinguish them.
        var ordinals: [PointKey: UInt32] = [:]
        // The loop uses indexes, because a copy of a point costs as much as a third of its row.
        for index in points.indices {
            let series = PointSeries(points[index].series)
            let key = PointKey(series: series.id, start: points[index].start, end: points[index].end)
            let ordinal = identities.isEmpty ? ordinals[key, default: 0] : 0
            let batch = identities.isEmpty ? batch : RowIdentity.arrived(identities[index])
            ordinals[key] = ordinal + 1
            guard points[index].statistics.duration.isMixed else {
                append { $0.add(points[index], of: series, from: sender, batch: batch, ordinal: ordinal) }
                continue
            }
            // A row has one scale.
            for (number, part) in points[index].statistics.parts.enumerated() {
                var point = points[index]
                point.statistics = part
                append { $0.add(point, of: series, from: sender, batch: batch, ordinal: ordinal + UInt32(number)) }
                ordinals[key] = ordinal + UInt32(number) + 1
            }
        }
    }

    /// Appends the difference of a cumulative point.
    ///
    /// - Parameters:
    ///   - batch: 16 bytes that identify its stream.
    ///   - revision: if there are two rows for one difference, the one with the higher number wins.
    mutating func append(
        difference: RequestPoint, of resource: TelemetryResource, sender: UInt64, batch: [UInt8], revision: UInt64
    ) {
        let (series, sender) = (PointSeries(difference.series), PointSender(resource, id: sender))
        append { row in
            row.add(difference, of: series, from: sender, batch: batch, ordinal: 0)
            row.number(revision)
        }
    }

    private mutating func add(
        _ point: RequestPoint, of series: PointSeries, from sender: PointSender, batch: [UInt8], ordinal: UInt32
    ) {
        let end = Int64(clamping: point.end)
        number(UInt32(hourOf: end))
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

    /// Adds the columns starting at `count`.
    mutating func add(_ statistics: RequestStatistics) {
        let sketch = statistics.duration.joined
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
        row.add(Dimension.ofPointSender, of: resource)
        columns = row.bytes
    }
}

/// Outcomes as numbers in a column.
extension RequestOutcome {
    private static let codes: [RequestOutcome] = [
        .success, .transportFailure, .clientError, .serverError, .hung, .cancelled,
    ]

    var code: UInt8 { UInt8(Self.codes.firstIndex(of: self) ?? 0) }

    /// Returns `nil` for an unknown code.
    init?(code: UInt8) {
        guard Self.codes.indices.contains(Int(code)) else { return nil }
        self = Self.codes[Int(code)]
    }
}

/// The columns shared by all points of a series. They are encoded once and cached, because most series have a point in every
/// batch.
struct PointSeries {
    /// See ``RowIdentity/series(_:)``.
    let id: UInt64
    /// The columns from `kind` to `outcome`.
    let columns: [UInt8]

    private static let known = Mutex<[SharedDimensions: PointSeries]>([:])
    private static let maxKnown = 100_000

    init(_ series: SharedDimensions) {
        self = Self.known.withLock { known in
            if let made = known[series] { return made }
            if known.count >= Self.maxKnown { known = [:] }
            let made = PointSeries(of: series.value)
            known[series] = made
            return made
        }
    }

    private init(of series: RequestDimensions) {
        id = RowIdentity.series(series)
        var row = TableRows(Schema.point)
        row.add(series)
        row.number(series.outcome.code)
        columns = row.bytes
    }
}

/// A day on which a series of a service has points.
struct SeriesDay: Hashable {
    let service: String
    let series: UInt64
    let day: UInt32

    init(_ point: RequestPoint, of resource: TelemetryResource) {
        service = resource.service
        series = PointSeries(point.series).id
        day = UInt32(dayOf: Int64(clamping: point.end))
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
