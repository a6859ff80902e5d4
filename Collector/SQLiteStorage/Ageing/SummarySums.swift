import MartletStorage
import MartletTelemetry

/// The points of all processes of one version of a service in a slot, which become those of a summary: one for each name and outcome
/// of their series. It holds the chunks' bytes and one sum at a time, however many series they have.
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

    private struct Point {
        let sum: Int
        let chunk: Int
        let entry: Range<Int>
    }

    let version: Version
    /// The sender that stands for all.
    let resource: Int64
    private let known: KnownSeries
    /// Points that could not be read, now or when the chunks themselves were made.
    private var damaged = 0
    private var readers: [ByteReader] = []
    private var points: [Point] = []
    /// The first series of each sum. One of those that have points here lives at least as long as the summary.
    private var series: [Int64] = []
    private var sumOfKey: [Key: Int] = [:]
    private var sumOfSeries: [Int64: Int] = [:]

    init(of version: Version, resource: Int64, _ known: KnownSeries) {
        (self.version, self.resource, self.known) = (version, resource, known)
    }

    /// Adds the points of a chunk. Returns `false` and adds nothing if one of them is of requests that are known from spans, or of an
    /// unknown series.
    mutating func add(_ chunk: StoredChunk) -> Bool {
        guard let bytes = chunk.bytes else {
            damaged &+= chunk.damaged &+ chunk.count
            return true
        }
        let count = points.count
        var entries = ChunkEntries(bytes)
        while let entry = entries.entry {
            guard let sum = sum(ofSeries: entries.series) else {
                points.removeSubrange(count...)
                return false
            }
            points.append(Point(sum: sum, chunk: readers.count, entry: entry))
            entries.next()
        }
        let found = points.count - count
        damaged &+= chunk.damaged &+ (chunk.count > found ? chunk.count - found : 0)
        readers.append(ByteReader(bytes))
        return true
    }

    /// Returns the sums as chunks, at least one if points are damaged, and the number of these points.
    consuming func finish() -> (blobs: [ChunkBlob], damaged: Int) {
        var (blobs, statistics) = ([ChunkBlob](), RequestStatistics())
        var entryReader = EntryReader()
        points.sort { (series[$0.sum], $0.chunk) < (series[$1.sum], $1.chunk) }
        for (index, point) in points.enumerated() {
            if entryReader.read(point.entry, of: &readers[point.chunk]) {
                entryReader.add(to: &statistics)
            } else {
                damaged &+= 1
            }
            if index + 1 < points.count, points[index + 1].sum == point.sum { continue }
            if !statistics.isEmpty { Self.append(statistics, series: series[point.sum], to: &blobs) }
            statistics = RequestStatistics()
        }
        if blobs.isEmpty, damaged > 0 { blobs.append(ChunkBlob(.tokens)) }
        return (blobs, damaged)
    }

    private static func append(_ statistics: RequestStatistics, series: Int64, to blobs: inout [ChunkBlob]) {
        if blobs.isEmpty || blobs[blobs.count - 1].count == ChunkWriting.maxPoints { blobs.append(ChunkBlob(.tokens)) }
        blobs[blobs.count - 1].append(statistics, series: series)
    }

    /// Returns the sum that a series' requests count to; `nil` if they are known from spans, or the series is unknown.
    private mutating func sum(ofSeries id: Int64) -> Int? {
        if let met = sumOfSeries[id] { return met }
        guard let (requests, name) = known.place(of: id).flatMap(known.entry), !requests.isOfSpans else { return nil }
        let key = Key(name: name, requests: requests)
        let sum = sumOfKey[key] ?? series.count
        if sum == series.count { series.append(id) }
        series[sum] = min(series[sum], id)
        (sumOfKey[key], sumOfSeries[id]) = (sum, sum)
        return sum
    }
}
