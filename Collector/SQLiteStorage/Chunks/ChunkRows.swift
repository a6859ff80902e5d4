import Foundation
import GRDB
import MartletStorage
import MartletTelemetry

/// Writes points into chunks, one for each end and tier. All points of a batch usually share both.
enum ChunkWriter {
    /// The largest number of points in a chunk. A larger batch becomes several chunks, so that a reader holds little at once.
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
    /// - Parameters:
    ///   - unlessKnown: whether to skip a chunk that is already stored, byte for byte. A sender that does not number its batches
    ///     may have sent it before. Two chunks of one sender are equal if they end in the same nanosecond and have the same figures
    ///     in every bit.
    ///   - arrived: the identities of what the points are the sums of, by end: see ``ArrivedPoints``.
    static func insert(
        _ points: [RequestPoint], of resource: Int64, service: String, unlessKnown: Bool = false,
        arrived: [UnixNanoseconds: [UInt64]] = [:], at now: UnixNanoseconds, index: inout SeriesIndex, in db: Database
    ) throws -> [RequestPoint] {
        let sorted = sorted(points, series: try index.ids(of: points, service: service, at: now, in: db))
        var new = unlessKnown ? [] : points
        var (first, arrived) = (0, arrived)
        var blob = ChunkBlob()
        for (position, point) in sorted.enumerated() {
            blob.append(points[point.index].statistics, series: point.series)
            let isLast = position + 1 == sorted.count || !point.isInOneChunk(with: sorted[position + 1])
            guard isLast || blob.count >= maxPoints else { continue }
            let row = ChunkRow(
                tier: point.tier, resource: resource, end: point.end, isDerived: false, damaged: 0,
                hasSpans: points[point.index].dimensions.source == .spans)
            let isKnown = try unlessKnown && row.isKnown(blob, in: db)
            if !isKnown {
                let identities = arrived.isEmpty ? nil : arrived.removeValue(forKey: points[point.index].end)
                try row.insert(blob, arrived: identities ?? [], in: db)
            }
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
            // Equal points need a fixed order, so that the same batch gives the same bytes.
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

/// A row of the table `chunk`.
struct ChunkRow {
    var tier: Tier
    var resource: Int64
    /// The end of the points' intervals. For derived chunks it is the end of their slot, or a time within the slot: see ``RollUp``.
    var end: Int64
    /// Whether the chunk was rolled up from the tier below; `false` for delivered points.
    var isDerived: Bool
    /// The number of points missing from the chunk, because they could not be read from its sources.
    var damaged: Int
    /// Whether some of the points are known only from spans. A batch has such points only, or none.
    var hasSpans: Bool

    /// Inserts the row as one that has not been rolled up.
    ///
    /// - Parameter arrived: see ``ArrivedPoints/identities``.
    func insert(_ blob: ChunkBlob, arrived: [UInt64] = [], in db: Database) throws {
        let statement = try db.cachedStatement(
            sql: """
                INSERT INTO chunk (tier, rolled, derived, resource_id, end_time, count, damaged, arrived, checksum, points, spans)
                VALUES (?, 0, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """)
        let bytes = blob.bytes
        try statement.execute(arguments: [
            tier.rawValue, isDerived, resource, end, blob.count, damaged, arrived.withUnsafeBytes { Data($0) },
            Int64(checksumOf: bytes), Data(bytes), hasSpans ? Self.spans : 0,
        ])
    }

    /// The value of the column `spans` in a chunk with requests that are known only from spans.
    static let spans = 2

    /// Returns the identities of the points that a sender has sent for these ends.
    static func arrived(
        at ends: Set<UnixNanoseconds>, of resource: Int64, in db: Database
    ) throws -> Set<UInt64> {
        let statement = try db.cachedStatement(
            sql: """
                SELECT arrived FROM chunk WHERE tier IN (0, 1, 2) AND rolled IN (0, 1, 2) AND end_time = ?
                    AND resource_id = ? AND NOT derived
                """)
        return try ends.reduce(into: []) { known, end in
            for blob in try Data.fetchAll(statement, arguments: [Int64(clamping: end), resource]) {
                for start in stride(from: 0, to: blob.count - 7, by: 8) {
                    known.insert(
                        blob.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: start, as: UInt64.self) })
                }
            }
        }
    }

    /// Whether a delivered chunk with the same points is stored, rolled up or not.
    func isKnown(_ blob: ChunkBlob, in db: Database) throws -> Bool {
        let statement = try db.cachedStatement(
            sql: """
                SELECT 1 FROM chunk WHERE tier = ? AND rolled IN (0, 1, 2) AND end_time = ? AND resource_id = ?
                    AND NOT derived AND checksum = ? AND points = ?
                """)
        let bytes = blob.bytes
        return try Row.fetchOne(
            statement, arguments: [tier.rawValue, end, resource, Int64(checksumOf: bytes), Data(bytes)]) != nil
    }
}

/// The row that the points of a chunk belong to.
enum ChunkOwner: Hashable {
    /// A row of `resource`.
    case sender(Int64)
    /// A row of `version`.
    case version(Int64)
}

/// A table of chunks.
enum ChunkTable: String {
    case senders = "chunk"
    case versions = "version_chunk"

    /// The column of the owner's number.
    var owner: String { self == .senders ? "resource_id" : "version_id" }

    func owner(_ id: Int64) -> ChunkOwner { self == .senders ? .sender(id) : .version(id) }
}

/// A chunk as it was read: its points, and how many there should be.
struct StoredChunk {
    /// `nil` if the disk returned bytes other than those written.
    var bytes: [UInt8]?
    var count: Int
    var damaged: Int
    var owner: ChunkOwner
    var end: Int64

    static func find(_ id: Int64, in table: ChunkTable = .senders, _ db: Database) throws -> StoredChunk? {
        let statement = try db.cachedStatement(sql: "SELECT \(columns(of: table)) FROM \(table.rawValue) WHERE id = ?")
        let rows = try Row.fetchCursor(statement, arguments: [id])
        var chunk: StoredChunk?
        // The row is valid only as long as the cursor.
        while let row = try rows.next() { chunk = try StoredChunk(row, table) }
        return chunk
    }

    /// Calls `body` for many chunks, in the order of `ids`. For chunks with few points, a statement for each chunk would take
    /// as long as reading its points.
    ///
    static func forEach(
        _ ids: [Int64], in table: ChunkTable, _ db: Database, _ body: (StoredChunk) throws -> Void
    ) throws {
        let statement = try db.cachedStatement(
            sql: """
                SELECT \(columns(of: table)) FROM json_each(?) wanted CROSS JOIN \(table.rawValue) AS found
                    ON found.id = wanted.value
                """)
        let list = "[" + ids.map(String.init).joined(separator: ",") + "]"
        let rows = try Row.fetchCursor(statement, arguments: [list])
        while let row = try rows.next() { try body(StoredChunk(row, table)) }
    }

    private static func columns(of table: ChunkTable) -> String {
        "points, checksum, count, damaged, \(table.owner), end_time"
    }

    /// Reads a row that begins with these columns.
    private init(_ row: Row, _ table: ChunkTable) throws {
        let found = try row.withUnsafeData(atIndex: 0) { data in data.map { [UInt8]($0) } ?? [] }
        bytes = Int64(checksumOf: found) == row[1] ? found : nil
        count = row[2]
        damaged = row[3]
        (owner, end) = (table.owner(row[4]), row[5])
    }
}
