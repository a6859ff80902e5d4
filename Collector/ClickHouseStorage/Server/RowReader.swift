/// Reads values in ClickHouse's format RowBinary: numbers have the lowest byte first, a text and an array have their length before them
/// as a varint.
struct RowReader {
    private let bytes: [UInt8]
    private var position = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    var isAtEnd: Bool { position == bytes.count }

    mutating func number<Number: FixedWidthInteger>(_ type: Number.Type = Number.self) throws -> Number {
        let size = Number.bitWidth / 8
        guard bytes.count - position >= size else { throw ClickHouseError.malformed }
        let value = bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: position, as: Number.self) }
        position += size
        return Number(littleEndian: value)
    }

    mutating func double() throws -> Double { Double(bitPattern: try number()) }

    mutating func flag() throws -> Bool { try number(UInt8.self) != 0 }

    mutating func text() throws -> String { String(decoding: try slice(try length()), as: UTF8.self) }

    /// Reads a column of FixedString.
    mutating func bytes(_ count: Int) throws -> [UInt8] { [UInt8](try slice(count)) }

    mutating func array<Element>(_ read: (inout RowReader) throws -> Element) throws -> [Element] {
        let count = try length()
        // Each one has a byte at least.
        guard count <= bytes.count - position else { throw ClickHouseError.malformed }
        var elements: [Element] = []
        elements.reserveCapacity(count)
        for _ in 0..<count { elements.append(try read(&self)) }
        return elements
    }

    private mutating func length() throws -> Int {
        var (value, shift) = (UInt64(0), UInt64(0))
        while shift < 63 {
            let byte = try number(UInt8.self)
            value |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return Int(value) }
            shift += 7
        }
        throw ClickHouseError.malformed
    }

    private mutating func slice(_ count: Int) throws -> ArraySlice<UInt8> {
        guard count <= bytes.count - position else { throw ClickHouseError.malformed }
        position += count
        return bytes[position - count..<position]
    }
}
