import Foundation
import GRDB
import MartletTelemetry

/// Makes chunks of the rows of earlier versions, which had one for each point. It holds the points of one end of interval.
enum PointMigration {
    static func run(in db: Database) throws {
        try db.execute(
            sql: """
                INSERT OR IGNORE INTO series (service, kind, method, host, port, endpoint, status, error, day)
                SELECT resource.service, kind, method, series_of_resource.host, port, endpoint, status, error,
                    CAST(strftime('%s', 'now') AS INTEGER) / 86400
                FROM series_of_resource JOIN resource ON resource.id = resource_id
                """)
        let points = try Row.fetchCursor(
            db,
            sql: """
                SELECT point.*, old.resource_id AS resource_id, series.id AS series FROM point
                JOIN series_of_resource old ON old.id = point.series_id
                JOIN resource ON resource.id = old.resource_id
                JOIN series ON (series.service, series.kind, series.method, series.host, series.port, series.endpoint,
                        series.status, series.error)
                    = (resource.service, old.kind, old.method, old.host, old.port, old.endpoint, old.status, old.error)
                ORDER BY end_time
                """)
        var moment: [Point] = []
        while let row = try points.next() {
            let point = Point(row)
            if let end = moment.last?.end, end != point.end || moment.count >= ChunkWriting.maxPoints {
                try insert(moment, in: db)
                moment = []
            }
            moment.append(point)
        }
        try insert(moment, in: db)
    }

    private struct Point {
        let resource: Int64
        let tier: Tier
        let end: Int64
        let series: Int64
        /// `nil` if the row was damaged: its sketch disagrees with the count beside it.
        let entry: [UInt8]?

        init(_ row: Row) {
            let (start, end): (Int64, Int64) = (row["start_time"], row["end_time"])
            let (sent, received): (Int64, Int64) = (row["bytes_sent"], row["bytes_received"])
            let (phases, sketch): (Data, Data) = (row["phases"], row["sketch"])
            (resource, series, self.end) = (row["resource_id"], row["series"], end)
            tier = Tier(fitting: UInt64(clamping: end.subtractingReportingOverflow(start).partialValue))
            var (reader, histogram) = (ByteReader([UInt8](sketch)), SparseHistogram())
            let isWhole =
                SketchBlob.read(&reader, into: &histogram)
                && histogram.count.map(Int64.init(clamping:)) == row["count"]
            entry =
                isWhole
                ? ChunkBlob.entry(
                    sent: UInt64(clamping: sent), received: UInt64(clamping: received), phases: phases, sketch: sketch)
                : nil
        }
    }

    private static func insert(_ points: [Point], in db: Database) throws {
        let sorted = points.sorted {
            ($0.resource, $0.tier.rawValue, $0.series) < ($1.resource, $1.tier.rawValue, $1.series)
        }
        var (blob, damaged) = (ChunkBlob(), 0)
        for (index, point) in sorted.enumerated() {
            if let entry = point.entry { blob.append(entry: entry[...], series: point.series) } else { damaged += 1 }
            let next = index + 1 < sorted.count ? sorted[index + 1] : nil
            guard next?.resource != point.resource || next?.tier != point.tier else { continue }
            let row = ChunkRow(
                tier: point.tier, resource: point.resource, end: point.end, isDerived: false, damaged: damaged)
            try row.insert(blob, in: db)
            (blob, damaged) = (ChunkBlob(), 0)
        }
    }
}
