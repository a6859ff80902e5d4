import MartletStorage
import MartletTelemetry

/// The points of one sender whose intervals end at the same time, as the bytes of a BLOB column: entries in ascending order of
/// their series. A series may occur more than once.
///
///     series          varint, the difference from that of the previous entry
///     length          varint, bytes of the rest of the entry
///     bytes sent      varint
///     bytes received  varint
///     phases          varint, the length of a ``PhasesBlob``, then its bytes
///     sketch          a ``SketchBlob``, to the end of the entry
///
/// A batch takes one row. One row for each point would cost the writer ten times as much. Other columns hold the bytes' checksum
/// and the number of entries.
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

    /// Adds a point, as an entry for each scale of its sketch. Its series must not come before that of the last entry.
    mutating func append(_ statistics: RequestStatistics, series: Int64) {
        guard !statistics.duration.isMixed else {
            for part in statistics.parts { append(part, series: series) }
            return
        }
        let phases = PhasesBlob.encode(statistics.phases)
        entry.removeAll()
        entry.append(varint: statistics.bytesSent)
        entry.append(varint: statistics.bytesReceived)
        entry.append(varint: UInt64(phases.count))
        entry.append(contentsOf: phases)
        SketchBlob.append(statistics.duration, as: form, to: &entry)
        append(entry: entry.bytes[...], series: series)
    }

    /// Adds an entry by its bytes from another chunk. Its series must not come before that of the last entry.
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

/// Reads the entries of a ``ChunkBlob`` one at a time. Invalid bytes end the reading.
struct ChunkEntries {
    /// The series of the current entry.
    private(set) var series: Int64 = 0
    /// The range of the current entry in ``bytes``, without its series and length; `nil` past the last one.
    private(set) var entry: Range<Int>?
    private var heads: ByteReader

    var bytes: [UInt8] { heads.bytes }

    /// Moves to the first entry.
    init(_ bytes: [UInt8]) {
        heads = ByteReader(bytes)
        next()
    }

    mutating func next() {
        entry = nil
        guard !heads.isAtEnd else { return }
        guard let difference = heads.varint(), let length = heads.varint(), let range = heads.range(of: length),
            case let (next, isTooLarge) = series.addingReportingOverflow(Int64(clamping: difference)), !isTooLarge
        else { return }
        (series, entry) = (next, range)
    }
}

/// Reads entries and adds them up. All reads reuse the same memory.
struct EntryReader {
    private var sketch = SparseHistogram()
    private var count: UInt64 = 0
    private var phases = PhasesBlob.emptyPhases
    private var phaseCount = 0
    private var sent: UInt64 = 0
    private var received: UInt64 = 0

    /// Reads an entry. Returns `false` if the bytes are invalid.
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

    /// Adds the entry read last.
    func add(to statistics: inout RequestStatistics) {
        statistics.duration.merge(sketch, count: count)
        statistics.bytesSent &+= sent
        statistics.bytesReceived &+= received
        for index in 0..<phaseCount { statistics.phases.add(phases[index].total, to: phases[index].phase) }
    }

    /// Adds the count and the time of the entry read last.
    func add(to figures: inout RankFigures, isFailure: Bool) {
        guard count > 0 || sent > 0 || received > 0 else { return }
        figures.add(count, time: sketch.sum, isFailure: isFailure)
    }
}

/// The phases of a point as the bytes of a BLOB column; empty for none.
///
///     version      1 byte, 1
///     phases       1 byte: bit n is the phase n in the order below
///     then, for each phase whose bit is set:
///       count      varint
///       seconds    8 bytes, the bits of a Double, little-endian
enum PhasesBlob {
    private static let version: UInt8 = 1
    /// The phases in the order of their bits. New phases may only be appended, because later versions read the stores of
    /// earlier ones.
    private static let order: [RequestPhase] = [.queue, .dns, .connect, .tls, .firstByte, .transfer]

    typealias Phase = (phase: RequestPhase, total: PhaseTotals.Total)

    static func encode(_ totals: PhaseTotals) -> [UInt8] {
        guard !totals.isEmpty else { return [] }
        var writer = ByteWriter()
        var bits: UInt8 = 0
        for (bit, phase) in order.enumerated() where totals[phase].count > 0 { bits |= 1 << bit }
        writer.append(version)
        writer.append(bits)
        for phase in order where totals[phase].count > 0 {
            writer.append(varint: totals[phase].count)
            writer.append(bitsOf: totals[phase].seconds)
        }
        return writer.bytes
    }

    /// An array with a total of 0 for every phase, for ``read(_:into:)``.
    static var emptyPhases: [Phase] { order.map { ($0, PhaseTotals.Total()) } }

    /// Reads the totals up to the reader's end into `phases`, an array from ``emptyPhases``, and returns their number. The result
    /// is a list because most points have two phases. Returns `nil` if the bytes cannot come from ``encode(_:)``.
    static func read(_ reader: inout ByteReader, into phases: inout [Phase]) -> Int? {
        guard !reader.isAtEnd else { return 0 }
        guard reader.byte() == version, let bits = reader.byte(), bits < 1 << order.count else { return nil }
        var (rest, read) = (bits, 0)
        while rest != 0 {
            let phase = order[rest.trailingZeroBitCount]
            rest &= rest - 1
            guard let count = reader.varint(), count > 0, let seconds = reader.double(),
                (0...Double.greatestFiniteMagnitude).contains(seconds)
            else { return nil }
            phases[read] = (phase, PhaseTotals.Total(count: count, seconds: seconds))
            read += 1
        }
        return reader.isAtEnd ? read : nil
    }
}

extension Int64 {
    /// Creates a checksum that reveals bytes changed on the disk. SQLite has no checksums of its pages.
    ///
    /// Each step is a bijection of the state for a given word. So two inputs that differ only within one word of 8 bytes never end
    /// in the same 64 bits. For any other change, the chance that the 32 kept bits stay the same is two to the power of -32.
    init(checksumOf bytes: [UInt8]) { self.init(Self.hash(bytes) >> 32) }

    /// Creates a hash of all 64 bits.
    init(hashOf bytes: [UInt8]) { self.init(bitPattern: Self.hash(bytes)) }

    private static func hash(_ bytes: [UInt8]) -> UInt64 {
        var state: UInt64 = 0x9e37_79b9_7f4a_7c15 ^ UInt64(bytes.count)
        // The loop reads words, which may be unaligned. Reading single bytes would take as long as all other work.
        bytes.withUnsafeBytes { bytes in
            let words = bytes.count / 8 * 8
            for offset in stride(from: 0, to: words, by: 8) {
                let word = bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
                state = Self.mixed(state, UInt64(littleEndian: word))
            }
            for byte in bytes[words...] { state = Self.mixed(state, UInt64(byte)) }
        }
        return state
    }

    private static func mixed(_ state: UInt64, _ word: UInt64) -> UInt64 {
        let product = (state ^ word) &* 0xbf58_476d_1ce4_e5b9
        return product ^ (product >> 32)
    }
}
