import MartletTelemetry

/// Reads entries and adds them up. All reads use the same memory.
struct EntryReader {
    private var sketch = SparseHistogram()
    private var phases = PhasesBlob.emptyPhases

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
