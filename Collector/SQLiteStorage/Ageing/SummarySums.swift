import MartletStorage
import MartletTelemetry

/// The sums of a summary: points of all processes of one version of a service, by the name and the outcome of their series.
struct SummarySums {
    /// The senders whose points are added up.
    struct Version: Equatable {
        var service: String
        var version: String
        var environment: String
    }

    private struct Key: Hashable {
        var name: Int
        var requests: RequestClass
    }

    let version: Version
    /// The sender that stands for all.
    let resource: Int64
    /// Points that could not be read, now or when the chunks themselves were made.
    private(set) var damaged = 0
    private let series: KnownSeries
    private var sums: [(series: Int64, statistics: RequestStatistics)] = []
    private var indexOfKey: [Key: Int] = [:]
    private var indexOfSeries: [Int64: Int] = [:]
    private var entryReader = EntryReader()

    init(of version: Version, resource: Int64, _ series: KnownSeries) {
        (self.version, self.resource, self.series) = (version, resource, series)
    }

    /// Adds the points of a chunk. Returns `false` and adds nothing if one of them is of requests that are known from spans, or of an
    /// unknown series.
    mutating func add(_ chunk: StoredChunk) -> Bool {
        guard let bytes = chunk.bytes else {
            damaged += chunk.damaged + chunk.count
            return true
        }
        var (entries, points) = (ChunkEntries(bytes), [(range: Range<Int>, sum: Int)]())
        while let entry = entries.entry {
            guard let sum = index(ofSeries: entries.series) else { return false }
            points.append((entry, sum))
            entries.next()
        }
        damaged += chunk.damaged + max(0, chunk.count - points.count)
        var reader = ByteReader(bytes)
        for point in points {
            if entryReader.read(point.range, of: &reader) {
                entryReader.add(to: &sums[point.sum].statistics)
            } else {
                damaged += 1
            }
        }
        return true
    }

    /// The sums as chunks, at least one if points are damaged.
    var blobs: [ChunkBlob] {
        var blobs: [ChunkBlob] = []
        for sum in sums.sorted(by: { $0.series < $1.series }) where !sum.statistics.isEmpty {
            if blobs.isEmpty || blobs[blobs.count - 1].count == ChunkWriting.maxPoints {
                blobs.append(ChunkBlob(.tokens))
            }
            blobs[blobs.count - 1].append(sum.statistics, series: sum.series)
        }
        return blobs.isEmpty && damaged > 0 ? [ChunkBlob(.tokens)] : blobs
    }

    /// Returns the sum that a series' requests count to; `nil` if they are known from spans, or the series is unknown.
    private mutating func index(ofSeries id: Int64) -> Int? {
        if let known = indexOfSeries[id] { return known }
        guard let (requests, name) = series.place(of: id).flatMap(series.entry), !requests.isOfSpans else { return nil }
        let key = Key(name: name, requests: requests)
        let index = indexOfKey[key] ?? sums.count
        if index == sums.count { sums.append((id, RequestStatistics())) }
        // One of the series that have points here lives at least as long as the summary.
        sums[index].series = min(sums[index].series, id)
        (indexOfKey[key], indexOfSeries[id]) = (index, index)
        return index
    }
}
