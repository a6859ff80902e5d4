import GRDB
import MartletPoints
import MartletStorage
import MartletTelemetry

/// Writes points into chunks, one for each end and tier. Usually all points of a batch share both.
enum ChunkWriting {
    /// A larger batch becomes several chunks, so that a reader holds little at once.
    static let maxPoints = 10_000

    /// A point of the batch: its index, and the properties that decide where it is written.
    private struct PointReference {
        var tier: Tier
        var end: Int64
        var series: Int64
        var index: Int

        func isInOneChunk(with other: PointReference) -> Bool { end == other.end && tier == other.tier }
    }

    /// Inserts the points of a sender.
    ///
    /// - Parameter unlessKnown: leaves out a chunk that is stored already, byte for byte: a sender that does not number its
    ///   batches may have sent it before. Two chunks of one sender are the same if they end in the same nanosecond and have
    ///   the same figures in every bit.
    /// - Returns: the points that were not left out.
    static func insert(
        _ points: [RequestPoint], of resource: Int64, service: String, unlessKnown: Bool = false,
        at now: UnixNanoseconds, index: inout SeriesIndex, in db: Database
    ) throws -> [RequestPoint] {
        let sorted = sorted(points, series: try index.ids(of: points, service: service, at: now, in: db))
        var new = unlessKnown ? [] : points
        var first = 0
        var blob = ChunkBlob()
        for (position, point) in sorted.enumerated() {
            blob.append(points[point.index].statistics, series: point.series)
            let isLast = position + 1 == sorted.count || !point.isInOneChunk(with: sorted[position + 1])
            guard isLast || blob.count == maxPoints else { continue }
            let row = ChunkRow(tier: point.tier, resource: resource, end: point.end, isDerived: false, damaged: 0)
            let isKnown = try unlessKnown && row.isKnown(blob, in: db)
            if !isKnown { try row.insert(blob, in: db) }
            if unlessKnown, !isKnown { new += sorted[first...position].map { points[$0.index] } }
            first = position + 1
            blob.removeAll()
        }
        return new
    }

    /// Returns the points' indexes sorted by chunk, and within a chunk by series.
    private static func sorted(_ points: [RequestPoint], series: [Int64]) -> [PointReference] {
        let references = points.indices.map { index in
            let (start, end) = (points[index].start, points[index].end)
            return PointReference(
                tier: Tier(fitting: end > start ? end - start : 0), end: Int64(clamping: end), series: series[index],
                index: index)
        }
        return references.sorted { one, other in
            if one.end != other.end { return one.end < other.end }
            if one.tier != other.tier { return one.tier.rawValue < other.tier.rawValue }
            if one.series != other.series { return one.series < other.series }
            // Equal points need a fixed order, so that the same batch makes the same bytes.
            return points[one.index].statistics.isOrdered(before: points[other.index].statistics)
        }
    }
}

extension RequestStatistics {
    fileprivate func isOrdered(before other: RequestStatistics) -> Bool {
        (duration.count, duration.sum, bytesSent, bytesReceived)
            < (other.duration.count, other.duration.sum, other.bytesSent, other.bytesReceived)
    }
}
