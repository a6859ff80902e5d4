import MartletStorage
import MartletTelemetry

/// Reads entries and adds them up. All reads use the same memory.
struct EntryReader {
    private var sketch = SparseHistogram()
    private var count: UInt64 = 0
    private var phases = PhasesBlob.emptyPhases
    private var phaseCount = 0
    private var sent: UInt64 = 0
    private var received: UInt64 = 0

    /// Reads an entry. Returns `false` if the bytes are no entry.
    mutating func read(_ entry: Range<Int>, of reader: inout ByteReader) -> Bool {
        reader.enter(entry)
        guard let sent = reader.varint(), let received = reader.varint(), let length = reader.varint(),
            let ofPhases = reader.range(of: length)
        else { return false }
        reader.enter(ofPhases)
        guard let phaseCount = PhasesBlob.read(&reader, into: &phases) else { return false }
        reader.enter(ofPhases.upperBound..<entry.upperBound)
        guard SketchBlob.read(&reader, into: &sketch), let count = sketch.count else { return false }
        (self.sent, self.received, self.phaseCount, self.count) = (sent, received, phaseCount, count)
        return true
    }

    /// Adds the entry that was read last.
    func add(to statistics: inout RequestStatistics) {
        statistics.duration.merge(sketch, count: count)
        statistics.bytesSent &+= sent
        statistics.bytesReceived &+= received
        for index in 0..<phaseCount { statistics.phases.add(phases[index].total, to: phases[index].phase) }
    }

    /// Adds the count and the time of the entry that was read last.
    func add(to figures: inout RankFigures, isFailure: Bool) {
        guard count > 0 || sent > 0 || received > 0 else { return }
        figures.add(count, time: sketch.sum, isFailure: isFailure)
    }
}
