import GRDB
import MartletTelemetry

/// Points on their way into chunks: one for each end and tier, which are usually the same for all points of a batch.
enum ChunkWriting {
    /// A larger batch becomes several chunks, so that a reader holds little at once.
    static let maxPoints = 10_000

    private struct Place {
        var tier: Tier
        var end: Int64
        var series: Int64
        var index: Int
    }

    static func insert(
        _ points: [RequestPoint], of resource: Int64, service: String, index: inout SeriesIndex, in db: Database
    ) throws {
        var places: [Place] = []
        places.reserveCapacity(points.count)
        for (position, point) in points.enumerated() {
            let end = Int64(clamping: point.end)
            let series = try index.id(of: point.dimensions, service: service, end: end, in: db)
            let tier = Tier(fitting: point.end > point.start ? point.end - point.start : 0)
            places.append(Place(tier: tier, end: end, series: series, index: position))
        }
        places.sort { ($0.end, $0.tier.rawValue, $0.series) < ($1.end, $1.tier.rawValue, $1.series) }
        var blob = ChunkBlob()
        for (position, place) in places.enumerated() {
            blob.append(points[place.index].statistics, series: place.series)
            let next = position + 1 < places.count ? places[position + 1] : nil
            guard next?.end != place.end || next?.tier != place.tier || blob.count == maxPoints else { continue }
            let row = ChunkRow(tier: place.tier, resource: resource, end: place.end, isDerived: false, damaged: 0)
            try row.insert(blob, in: db)
            blob.removeAll()
        }
        if let last = places.last { try ResourceRows.extend(resource, to: last.end, in: db) }
    }
}
