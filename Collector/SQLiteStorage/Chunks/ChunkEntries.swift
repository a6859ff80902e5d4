import MartletTelemetry

/// Goes through the entries of a ``ChunkBlob``, one at a time. Nonsense ends it and sets ``isDamaged``.
struct ChunkEntries {
    /// The series of the current entry.
    private(set) var series: Int64 = 0
    /// The range of the current entry in ``bytes``, without its series and length; `nil` past the last one.
    private(set) var entry: Range<Int>?
    private(set) var isDamaged = false
    private var heads: ByteReader

    var bytes: [UInt8] { heads.bytes }

    /// Goes to the first entry.
    init(_ bytes: [UInt8]) {
        heads = ByteReader(bytes)
        next()
    }

    mutating func next() {
        entry = nil
        guard !heads.isAtEnd else { return }
        guard let difference = heads.varint(), let length = heads.varint(), let range = heads.range(of: length),
            case let (next, isTooLarge) = series.addingReportingOverflow(Int64(clamping: difference)), !isTooLarge
        else {
            isDamaged = true
            return
        }
        (series, entry) = (next, range)
    }
}

/// Reads entries and adds them up. All reads use the same memory.
struct EntryReader {
    private var sketch = SparseHistogram()
    private var phases = PhasesBlob.room

    /// Adds an entry. Returns `false`, and adds nothing, if the bytes are no entry.
    mutating func add(_ entry: Range<Int>, of reader: inout ByteReader, to statistics: inout RequestStatistics) -> Bool
    {
        reader.enter(entry)
        guard let sent = reader.varint(), let received = reader.varint(), let length = reader.varint(),
            let ofPhases = reader.range(of: length)
        else { return false }
        reader.enter(ofPhases)
        guard let phaseCount = PhasesBlob.read(&reader, into: &phases) else { return false }
        reader.enter(ofPhases.upperBound..<entry.upperBound)
        guard SketchBlob.read(&reader, into: &sketch), statistics.duration.merge(sketch) else { return false }
        statistics.bytesSent &+= sent
        statistics.bytesReceived &+= received
        for index in 0..<phaseCount { statistics.phases.add(phases[index].total, to: phases[index].phase) }
        return true
    }
}
