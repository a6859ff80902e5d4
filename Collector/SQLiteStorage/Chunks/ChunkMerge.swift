import MartletTelemetry

/// Merges many chunks into one, series by series. It holds their bytes and one point, however many series they have.
struct ChunkMerge {
    private struct Source {
        var entries: ChunkEntries
        var reader: ByteReader
        /// Entries that are still to be read.
        var left: Int

        mutating func add(
            _ series: Int64, to statistics: inout RequestStatistics, reading entryReader: inout EntryReader,
            _ damaged: inout Int
        ) {
            while let entry = entries.entry, entries.series == series {
                if entryReader.read(entry, of: &reader) { entryReader.add(to: &statistics) } else { damaged += 1 }
                left -= 1
                entries.next()
            }
        }
    }

    /// Points that could not be read, now or when the chunks themselves were made.
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

    /// Returns the next points in the order of their series, at most `maxPoints` of them. Empty at the end.
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

    /// Appends the sum of a series. The bytes of a series' only point are copied as they are.
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

    /// Returns the index of the only source whose current entry is of the series, or `nil` if several have it.
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
