import MartletTelemetry

/// Makes one chunk of many, series by series, so that it holds the bytes and one point, however many series there are.
struct ChunkMerge {
    private struct Source {
        var entries: ChunkEntries
        var reader: ByteReader
        /// Entries that were not come to yet.
        var left: Int

        mutating func add(
            _ series: Int64, to statistics: inout RequestStatistics, reading entryReader: inout EntryReader,
            _ damaged: inout Int
        ) {
            while let entry = entries.entry, entries.series == series {
                if !entryReader.add(entry, of: &reader, to: &statistics) { damaged += 1 }
                left -= 1
                entries.next()
            }
        }
    }

    /// Points that could not be read, of these and of what they were made of.
    private(set) var damaged = 0
    private var sources: [Source] = []
    private var entryReader = EntryReader()

    mutating func add(_ chunk: StoredChunk) {
        damaged += chunk.damaged
        guard let bytes = chunk.bytes else {
            damaged += chunk.count
            return
        }
        sources.append(Source(entries: ChunkEntries(bytes), reader: ByteReader(bytes), left: chunk.count))
    }

    /// The next points in the order of their series, at most `maxPoints` of them. Empty at the end.
    mutating func next(maxPoints: Int) -> ChunkBlob {
        var blob = ChunkBlob(.tokens)
        while blob.count < maxPoints, let series = nextSeries() { append(series, to: &blob) }
        guard blob.count < maxPoints else { return blob }
        damaged += sources.reduce(0) { $0 + max(0, $1.left) }
        sources = []
        return blob
    }

    private func nextSeries() -> Int64? {
        var next: Int64?
        for source in sources where source.entries.entry != nil {
            next = min(next ?? .max, source.entries.series)
        }
        return next
    }

    /// A point that stands alone is taken as its bytes are.
    private mutating func append(_ series: Int64, to blob: inout ChunkBlob) {
        let alone = alone(in: series)
        if let alone, let entry = sources[alone].entries.entry {
            var rest = sources[alone].entries
            rest.next()
            if rest.entry == nil || rest.series != series {
                blob.append(entry: sources[alone].entries.bytes[entry], series: series)
                sources[alone].left -= 1
                sources[alone].entries = rest
                return
            }
        }
        var statistics = RequestStatistics()
        for index in sources.indices { sources[index].add(series, to: &statistics, reading: &entryReader, &damaged) }
        if !statistics.isEmpty { blob.append(statistics, series: series) }
    }

    /// The only source that has the series next.
    private func alone(in series: Int64) -> Int? {
        var found: Int?
        for (index, source) in sources.enumerated() where source.entries.entry != nil && source.entries.series == series
        {
            guard found == nil else { return nil }
            found = index
        }
        return found
    }
}
