import GRDB

/// The chunks of a range in the order in which they are best read: one piece of time after the other, and in each of them
/// those of one service and sender together. What they count to stays in the processor's caches then; in the order of time
/// alone a report of a month takes a third longer.
struct ChunkSlices {
    struct Place {
        var id: Int64
        var sender: SenderClasses.Sender
    }

    /// Chunks of a piece, which are held at once: 24 bytes of each.
    static let maxChunks = 10_000

    private let rows: RowCursor

    init(of range: ChunkRange, in db: Database) throws {
        rows = try Row.fetchCursor(
            db,
            sql: """
                SELECT id, resource_id FROM chunk
                WHERE tier = ? AND rolled = ? AND end_time > ? AND end_time <= ?\(range.onlyDelivered ? " AND NOT derived" : "")
                ORDER BY end_time
                """,
            arguments: [range.tier.rawValue, range.isRolled, range.from, range.to])
    }

    /// The next piece; `nil` at the end.
    ///
    /// - Parameter sender: of a resource; chunks are left out where it is `nil`.
    func next(sender: (_ resource: Int64) throws -> SenderClasses.Sender?) throws -> [Place]? {
        var places: [Place] = []
        while places.count < Self.maxChunks, let row = try rows.next() {
            if let sender = try sender(row[1]) { places.append(Place(id: row[0], sender: sender)) }
        }
        guard !places.isEmpty else { return nil }
        return places.sorted { ($0.sender, $0.id) < ($1.sender, $1.id) }
    }
}
