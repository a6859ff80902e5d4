import MartletTelemetry

/// The points of one sender and one end of interval as the bytes of a BLOB column: entries in ascending order of their
/// series, which may occur more than once.
///
///     series          varint, the difference to that of the entry before
///     length          varint, bytes of the rest of the entry
///     bytes sent      varint
///     bytes received  varint
///     phases          varint, the length of a ``PhasesBlob``, and that
///     sketch          a ``SketchBlob``, to the end of the entry
///
/// A batch takes one row; a row for each of its points would cost the writer ten times as much. Columns beside the bytes hold
/// their checksum and the number of entries.
struct ChunkBlob {
    private let form: SketchBlob.Form
    private(set) var count = 0
    private(set) var lastSeries: Int64 = 0
    private var writer = ByteWriter()
    private var entry = ByteWriter()

    /// - Parameter form: the form of the sketches that are added.
    init(_ form: SketchBlob.Form = .gaps) {
        self.form = form
    }

    var bytes: [UInt8] { writer.bytes }

    /// Adds a point. Its series must not come before the last one.
    mutating func append(_ statistics: RequestStatistics, series: Int64) {
        let phases = PhasesBlob.encode(statistics.phases)
        entry.removeAll()
        entry.append(varint: statistics.bytesSent)
        entry.append(varint: statistics.bytesReceived)
        entry.append(varint: UInt64(phases.count))
        entry.append(contentsOf: phases)
        SketchBlob.append(statistics.duration, as: form, to: &entry)
        append(entry: entry.bytes[...], series: series)
    }

    /// Adds an entry with the bytes that it has in another chunk. Its series must not come before the last one.
    mutating func append(entry: ArraySlice<UInt8>, series: Int64) {
        writer.append(varint: UInt64(clamping: series &- lastSeries))
        writer.append(varint: UInt64(entry.count))
        writer.append(contentsOf: entry)
        lastSeries = series
        count += 1
    }

    mutating func removeAll() {
        writer.removeAll()
        (count, lastSeries) = (0, 0)
    }
}
