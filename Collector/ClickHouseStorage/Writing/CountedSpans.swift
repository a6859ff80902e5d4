import MartletStorage
import MartletTelemetry

/// The requests of senders without numbers whose spans are counted. Each is noted after its points and before the first of its
/// spans is stored. Without the note, a request that comes again after only some of its spans were stored would look like a
/// request with new spans.
struct CountedSpans {
    /// The notes to store.
    private(set) var rows = TableRows(Schema.countedSpans)
    private var known: Set<[UInt8]>

    /// Reads which of some requests are counted.
    init(named names: [[UInt8]], in client: ClickHouseClient) async throws {
        guard !names.isEmpty else {
            known = []
            return
        }
        let list = names.map(SQLText.bytes).joined(separator: ", ")
        known = Set(
            try await client.rows("SELECT DISTINCT name FROM counted_spans WHERE name IN (\(list))") {
                try $0.bytes(16)
            })
    }

    /// Returns 16 bytes that name the spans of a sender that came together.
    static func name(of details: DetailsBatch) -> [UInt8] {
        RowIdentity.spans(details.details, of: RowIdentity.sender(details.resource))
    }

    /// Notes that spans count; returns `false` if they do already.
    mutating func note(_ details: DetailsBatch) -> Bool {
        let name = Self.name(of: details)
        guard known.insert(name).inserted else { return false }
        rows.append { row in
            row.number(StoredDay.of(Int64(clamping: details.latestEnd)))
            row.fixed(name)
        }
        return true
    }
}
