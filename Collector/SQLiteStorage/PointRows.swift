import Foundation
import GRDB
import MartletTelemetry

enum PointRows {
    static func insert(_ point: RequestPoint, resource: Int64, in db: Database) throws {
        let series = try SeriesRows.id(of: point.dimensions, resource: resource, in: db)
        let statement = try db.cachedStatement(
            sql: """
                INSERT INTO point (start_time, end_time, series_id, count, bytes_sent, bytes_received, sketch, phases)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?)
                """)
        try statement.execute(arguments: [
            Int64(clamping: point.start), Int64(clamping: point.end), series,
            Int64(clamping: point.statistics.duration.count), Int64(clamping: point.statistics.bytesSent),
            Int64(clamping: point.statistics.bytesReceived), Data(SketchBlob.encode(point.statistics.duration)),
            Data(PhasesBlob.encode(point.statistics.phases)),
        ])
    }

    /// `nil` when the row is damaged: sketch or phases cannot be read, or the sketch disagrees with the count beside it.
    static func decode(_ row: Row) -> RequestStatistics? {
        let (sketchBlob, phasesBlob): (Data, Data) = (row["sketch"], row["phases"])
        let (count, sent, received): (Int64, Int64, Int64) = (row["count"], row["bytes_sent"], row["bytes_received"])
        guard let sketch = SketchBlob.decode([UInt8](sketchBlob)), sketch.count == UInt64(clamping: count),
            let phases = PhasesBlob.decode([UInt8](phasesBlob))
        else { return nil }
        return RequestStatistics(
            duration: sketch, bytesSent: UInt64(clamping: sent), bytesReceived: UInt64(clamping: received),
            phases: phases)
    }
}
