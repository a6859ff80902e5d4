/// Rows for one table in ClickHouse's format RowBinary. Numbers are little-endian. Texts and arrays are preceded by their
/// length as a varint.
struct TableRows: Sendable {
    let table: Table
    private(set) var bytes: [UInt8] = []
    private(set) var count = 0

    init(_ table: Table) {
        self.table = table
    }

    /// Appends a row. `body` appends its values in the order of the table's columns.
    mutating func append(_ body: (inout TableRows) -> Void) {
        body(&self)
        count += 1
    }

    mutating func number(_ value: some FixedWidthInteger) {
        withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
    }

    mutating func double(_ value: Double) { number(value.bitPattern) }

    mutating func flag(_ value: Bool) { bytes.append(value ? 1 : 0) }

    mutating func text(_ value: String?) {
        length((value ?? "").utf8.count)
        bytes.append(contentsOf: (value ?? "").utf8)
    }

    /// Appends a value of type FixedString.
    mutating func fixed(_ value: [UInt8]) { bytes.append(contentsOf: value) }

    /// Appends the bytes of columns that were encoded earlier, because they are the same in many rows.
    mutating func columns(_ made: [UInt8]) { bytes.append(contentsOf: made) }

    mutating func array<Elements: Collection>(
        _ elements: Elements, _ body: (inout TableRows, Elements.Element) -> Void
    ) {
        length(elements.count)
        for value in elements { body(&self, value) }
    }

    /// Appends two arrays: the indexes of the filled buckets, and their counts.
    ///
    /// - Parameter offset: the index of the first bucket.
    mutating func filled(_ buckets: [UInt64], offset: Int32) {
        let filled = buckets.count { $0 > 0 }
        let (indexes, counts) = (room(for: filled, size: 4), room(for: filled, size: 8))
        var span = bytes.mutableSpan
        var target = span.mutableBytes
        var position = 0
        for index in buckets.indices where buckets[index] > 0 {
            target.storeBytes(
                of: (offset &+ Int32(truncatingIfNeeded: index)).littleEndian, toByteOffset: indexes + 4 * position,
                as: Int32.self)
            target.storeBytes(
                of: buckets[index].littleEndian, toByteOffset: counts + 8 * position, as: UInt64.self)
            position += 1
        }
    }

    /// Appends an array of zeros, and returns the position of the first one.
    private mutating func room(for count: Int, size: Int) -> Int {
        length(count)
        bytes.append(contentsOf: repeatElement(0, count: count * size))
        return bytes.count - count * size
    }

    private mutating func length(_ value: Int) {
        var rest = UInt64(value)
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }
}
