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

        func isInOneChunk(with other: Place) -> Bool { end == other.end && tier == other.tier }
    }

    static func insert(
        _ points: [RequestPoint], of resource: Int64, service: String, index: inout SeriesIndex, in db: Database
    ) throws {
        let places = places(of: points, series: try index.ids(of: points, service: service, in: db))
        var blob = ChunkBlob()
        for (position, place) in places.enumerated() {
            blob.append(points[place.index].statistics, series: place.series)
            let isLast = position + 1 == places.count || !place.isInOneChunk(with: places[position + 1])
            guard isLast || blob.count == maxPoints else { continue }
            let row = ChunkRow(tier: place.tier, resource: resource, end: place.end, isDerived: false, damaged: 0)
            try row.insert(blob, in: db)
            blob.removeAll()
        }
    }

    /// By the chunks that they go to, and in these by their series.
    private static func places(of points: [RequestPoint], series: [Int64]) -> [Place] {
        let places = points.indices.map { index in
            let (start, end) = (points[index].start, points[index].end)
            return Place(
                tier: Tier(fitting: end > start ? end - start : 0), end: Int64(clamping: end), series: series[index],
                index: index)
        }
        return places.sorted { one, other in
            if one.end != other.end { return one.end < other.end }
            if one.tier != other.tier { return one.tier.rawValue < other.tier.rawValue }
            return one.series < other.series
        }
    }
}
