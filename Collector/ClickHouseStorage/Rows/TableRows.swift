/// Rows for one table in ClickHouse's format RowBinary: see ``RowReader``.
struct TableRows: Sendable {
    let table: Table
    private(set) var bytes: [UInt8] = []
    private(set) var count = 0

    init(_ table: Table) {
        self.table = table
    }

    /// Appends a row, whose values `body` appends in the order of the table's columns.
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

    /// Appends a column of FixedString.
    mutating func fixed(_ value: [UInt8]) { bytes.append(contentsOf: value) }

    mutating func array<Elements: Collection>(
        _ elements: Elements, _ body: (inout TableRows, Elements.Element) -> Void
    ) {
        length(elements.count)
        for element in elements { body(&self, element) }
    }

    /// Appends an array of numbers. A point has two of them, with a number for each bucket.
    mutating func numbers<Number: FixedWidthInteger & BitwiseCopyable>(_ count: Int, _ number: (Int) -> Number) {
        length(count)
        let (start, size) = (bytes.count, MemoryLayout<Number>.size)
        bytes.append(contentsOf: repeatElement(0, count: count * size))
        var elements = bytes.mutableSpan
        var target = elements.mutableBytes
        for index in 0..<count {
            target.storeBytes(of: number(index).littleEndian, toByteOffset: start + index * size, as: Number.self)
        }
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
