import GRDB
import MartletStorage
import MartletTelemetry

/// Goes through chunks for the sums of many queries. Sums of the same chunks share one pass, in which each point is read once.
enum ChunkPass {
    static func add(to sums: inout [GroupSums], in db: Database) throws {
        var rest = Array(sums.indices)
        while let first = rest.first {
            let ranges = sums[first].ranges
            let sharing = rest.filter { sums[$0].ranges == ranges }
            rest.removeAll { sums[$0].ranges == ranges }
            do {
                for range in ranges { try add(range, to: &sums, at: sharing, in: db) }
            } catch is TooManyGroups {
                // All of them have failed, so nothing is left to read for.
            }
        }
    }

    private static func add(
        _ range: ChunkRange, to sums: inout [GroupSums], at indexes: [Int], in db: Database
    ) throws {
        var entryReader = EntryReader()
        let slices = try ChunkSlices(of: range, in: db)
        while let chunks = try slices.next(sender: { try sender($0, of: &sums, at: indexes, in: db) }) {
            try StoredChunk.forEach(chunks, in: db) { try add($0, to: &sums, at: indexes, &entryReader, in: db) }
        }
    }

    /// Returns the class of a sender in one of the sums that count it; `nil` if none does.
    private static func sender(
        _ resource: Int64, of sums: inout [GroupSums], at indexes: [Int], in db: Database
    ) throws -> TargetLookup.SenderClass? {
        for index in indexes {
            if let sender = try sums[index].senderClass(ofResource: resource, in: db) { return sender }
        }
        return nil
    }

    private static func add(
        _ chunk: StoredChunk, to sums: inout [GroupSums], at indexes: [Int], _ entryReader: inout EntryReader,
        in db: Database
    ) throws {
        let counting = try indexes.filter { try sums[$0].begin(chunk, in: db) }
        if counting.isEmpty { return try check(sums, at: indexes) }
        guard let bytes = chunk.bytes else {
            for index in counting { sums[index].addDamaged(chunk.count) }
            return
        }
        var (entries, reader, missing) = (ChunkEntries(bytes), ByteReader(bytes), chunk.count)
        while let entry = entries.entry {
            var isRead: Bool?
            for index in counting {
                guard let target = try sums[index].target(ofSeries: entries.series, in: db) else { continue }
                let isEntry = isRead ?? entryReader.read(entry, of: &reader)
                isRead = isEntry
                if isEntry {
                    sums[index].add(entryReader, to: target)
                } else {
                    sums[index].addDamaged(1)
                }
            }
            entries.next()
            missing -= 1
        }
        for index in counting where missing > 0 { sums[index].addDamaged(missing) }
    }

    /// Throws if all sums have failed.
    private static func check(_ sums: [GroupSums], at indexes: [Int]) throws(TooManyGroups) {
        let failures = indexes.compactMap { sums[$0].failure }
        if let first = failures.first, failures.count == indexes.count { throw first }
    }
}
