import GRDB
import MartletStorage
import MartletTelemetry

/// Goes through chunks once and adds each point to its group, from the bytes as they are read. Holds one chunk, the groups,
/// and an entry for each series that it met.
struct PointFolding {
    private(set) var damagedPoints = 0
    private let query: StatisticsQuery
    private var statistics: [RequestStatistics] = []
    private var indexOfGroup: [RequestGroup: Int] = [:]
    private var senders: SenderClasses
    private var entryReader = EntryReader()
    /// By group; `nil` for those of metrics.
    private var kindOfSpans: [RequestKind?] = []
    /// Read when the first of spans is met.
    private var overlaps: StatisticsCover.Overlaps?

    init(_ query: StatisticsQuery) {
        self.query = query
        senders = SenderClasses(query)
    }

    /// Those that have something.
    var groups: [RequestGroup: RequestStatistics] {
        let groups = indexOfGroup.mapValues { statistics[$0] }
        // All of them but for damage, and a filter hashes each anew.
        return statistics.contains(where: \.isEmpty) ? groups.filter { !$0.value.isEmpty } : groups
    }

    mutating func add(_ range: ChunkRange, in db: Database) throws {
        let slices = try ChunkSlices(of: range, in: db)
        while let places = try slices.next(sender: { try senders.sender(ofResource: $0, in: db) }) {
            try StoredChunk.forEach(places.map(\.id), in: db) { try add($1, of: places[$0].sender, in: db) }
        }
    }

    private mutating func add(_ chunk: StoredChunk, of sender: SenderClasses.Sender, in db: Database) throws {
        damagedPoints += chunk.damaged
        guard let bytes = chunk.bytes else {
            damagedPoints += chunk.count
            return
        }
        var entries = ChunkEntries(bytes)
        var reader = ByteReader(bytes)
        var read = 0
        while let entry = entries.entry {
            let group = try group(ofSeries: entries.series, sender: sender, in: db)
            let isLeftOut = try group == SenderClasses.noGroup || isToldByMetrics(group, in: chunk, db)
            // Not behind an `||`, whose closure would copy the statistics.
            let isRead = isLeftOut ? true : entryReader.add(entry, of: &reader, to: &statistics[group])
            if isRead { read += 1 }
            entries.next()
        }
        damagedPoints += max(0, chunk.count - read)
    }

    /// Whether the group is one of spans and the chunk of a time of which the same sender has metrics.
    private mutating func isToldByMetrics(_ group: Int, in chunk: StoredChunk, _ db: Database) throws -> Bool {
        guard let kind = kindOfSpans[group] else { return false }
        let overlaps = try overlaps ?? StatisticsCover.Overlaps(in: db)
        self.overlaps = overlaps
        return overlaps.contains(kind, of: chunk.resource, end: chunk.end)
    }

    private mutating func group(ofSeries series: Int64, sender: SenderClasses.Sender, in db: Database) throws -> Int {
        if let known = senders.group(ofSeries: series, sender: sender) { return known }
        var place = SenderClasses.noGroup
        if let group = try senders.readGroup(ofSeries: series, sender: sender, in: db) { place = index(of: group) }
        senders.remember(place, ofSeries: series, sender: sender)
        return place
    }

    private mutating func index(of group: RequestGroup) -> Int {
        if let known = indexOfGroup[group] { return known }
        indexOfGroup[group] = statistics.count
        statistics.append(RequestStatistics())
        kindOfSpans.append(group.source == .spans ? group.kind : nil)
        return statistics.count - 1
    }
}
