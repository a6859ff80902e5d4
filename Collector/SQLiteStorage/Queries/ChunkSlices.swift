import GRDB
import MartletStorage

/// The chunks of a range in the order that is fastest to read: one slice of time after the other, and within a slice by
/// service and sender. The sums that the points are added to then stay in the processor's caches; in the order of time alone
/// a report of a month takes a third longer.
struct ChunkSlices {
    /// Chunks of a slice at most. They are held at once and take 24 bytes each.
    static let maxChunks = 10_000

    private let rows: RowCursor

    init(of range: ChunkRange, in db: Database) throws {
        let (rows, arguments) = Self.rows(of: range)
        self.rows = try Row.fetchCursor(
            db, sql: "SELECT id, resource_id FROM \(rows) AND end_time > ? AND end_time <= ? ORDER BY end_time",
            arguments: arguments + [range.from, range.to])
    }

    /// Returns the table of a range's chunks, with a condition for them.
    private static func rows(of range: ChunkRange) -> (sql: String, StatementArguments) {
        let ofTier: StatementArguments = [range.tier.rawValue, range.isRolled]
        switch range.contents {
        case .all: return ("chunk WHERE tier = ? AND rolled = ?", ofTier)
        case .delivered: return ("chunk WHERE tier = ? AND rolled = ? AND NOT derived", ofTier)
        case .unsummarized, .unsummarizable:
            // SQLite takes the index only if its own condition is among these.
            return (
                """
                chunk INDEXED BY chunk_unsummarized
                WHERE tier = 1 AND summarized != 1 AND summarized = ? AND rolled = ?
                """, [range.contents == .unsummarized ? 0 : 2, range.isRolled]
            )
        case .summaries: return ("summary WHERE true", [])
        }
    }

    /// Returns the next slice, as the numbers of its chunks; `nil` at the end.
    ///
    /// - Parameter sender: returns the sender of a resource; chunks are left out if it is `nil`.
    func next(sender: (_ resource: Int64) throws -> TargetLookup.SenderClass?) throws -> [Int64]? {
        var chunks: [(id: Int64, sender: TargetLookup.SenderClass)] = []
        while chunks.count < Self.maxChunks, let row = try rows.next() {
            if let sender = try sender(row[1]) { chunks.append((row[0], sender)) }
        }
        guard !chunks.isEmpty else { return nil }
        return chunks.sorted { ($0.sender, $0.id) < ($1.sender, $1.id) }.map(\.id)
    }
}
