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
