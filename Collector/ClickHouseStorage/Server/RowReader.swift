/// The columns of a SELECT. Each has an expression, and a name by which its values are read. Only the expressions are sent to
/// ClickHouse, because an alias would hide a column of the same name.
struct Selection: ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral {
    private var columns: [(name: String, expression: String)] = []

    /// Creates a selection from names. Each name's expression is the column of that name, unless `expression` returns another.
    init(_ names: [String], _ expression: (String) -> String = { $0 }) { columns = names.map { ($0, expression($0)) } }

    /// Creates a selection of all columns of a table.
    init(_ table: Table) { self.init(table.columns.map(\.name)) }

    init(arrayLiteral names: String...) { self.init(names) }

    /// Creates a selection from names and their expressions.
    init(dictionaryLiteral columns: (String, String)...) { self.columns = columns }

    static func + (one: Selection, other: Selection) -> Selection {
        var sum = one
        sum.columns += other.columns
        return sum
    }

    var names: [String] { columns.map(\.name) }

    /// The expressions of the SELECT.
    var list: String { columns.map(\.expression).joined(separator: ", ") }

    /// Returns the beginning of a statement that stores the values in the columns of the same names.
    func insert(into table: Table) -> String {
        "INSERT INTO \(table.name) (\(names.joined(separator: ", "))) SELECT \(list)"
    }
}

/// Reads the rows of an answer in ClickHouse's format Native, by the names of a ``Selection``. Throws
/// ``ClickHouseError/malformed(_:)`` if a column is missing or has another type.
///
/// An answer is a series of blocks. A block begins with its numbers of columns and rows. Then each column follows: its name,
/// its type and its values. Numbers are little-endian, and lengths are varints.
struct RowReader {
    private enum Column {
        case fixed(start: Int, size: Int, type: String)
        /// Texts, or the elements of arrays.
        case ranges([Range<Int>], type: String)

        var type: String {
            switch self {
            case .fixed(_, _, let type), .ranges(_, let type): type
            }
        }

        func range(_ row: Int) -> Range<Int> {
            switch self {
            case .fixed(let start, let size, _): start + row * size..<start + (row + 1) * size
            case .ranges(let ranges, _): ranges[row]
            }
        }
    }

    private let bytes: [UInt8]
    private let names: [String]
    private var position = 0
    private var columns: [Column] = []
    private var rows = 0
    private var row = -1
    /// The columns of a block, in the order in which the values of its first row were read. The other rows are read in the same
    /// order, so each name is looked up only once.
    private var order: [(name: String, column: Int)] = []
    private var step = 0

    init(_ bytes: [UInt8], _ selection: Selection) {
        self.bytes = bytes
        names = selection.names
    }

    /// Goes to the next row. Returns `false` after the last one.
    mutating func next() throws -> Bool {
        (row, step) = (row + 1, 0)
        while row >= rows {
            guard position < bytes.count else { return false }
            try readBlock()
            row = 0
        }
        return true
    }

    mutating func number<Number: FixedWidthInteger>(
        _ name: String, _ type: Number.Type = Number.self
    ) throws -> Number {
        try element(at: try range(of: name, "\(type)").lowerBound)
    }

    mutating func double(_ name: String) throws -> Double {
        Double(bitPattern: try element(at: try range(of: name, "Float64").lowerBound))
    }

    mutating func flag(_ name: String) throws -> Bool { try number(name, UInt8.self) != 0 }

    mutating func text(_ name: String) throws -> String {
        let range = try range(of: name, "String")
        return String(decoding: bytes[range], as: UTF8.self)
    }

    /// Reads a time in nanoseconds since 1970 from a column of type Int64.
    mutating func time(_ name: String) throws -> UInt64 { UInt64(clamping: try number(name, Int64.self)) }

    /// Reads a value of type FixedString.
    mutating func bytes(_ name: String, _ count: Int) throws -> [UInt8] {
        let range = try range(of: name, "FixedString(\(count))")
        return [UInt8](bytes[range])
    }

    mutating func numbers<Number: FixedWidthInteger>(
        _ name: String, _ type: Number.Type = Number.self
    ) throws -> [Number] {
        try elements(try range(of: name, "Array(\(type))"))
    }

    mutating func doubles(_ name: String) throws -> [Double] {
        try elements(try range(of: name, "Array(Float64)")).map(Double.init(bitPattern:))
    }

    /// Returns the bytes of a value in the current row.
    private mutating func range(of name: String, _ type: @autoclosure () -> String) throws -> Range<Int> {
        if step == order.count {
            order.append((name, try column(name, type())))
        } else if order[step].name != name {
            order[step] = (name, try column(name, type()))
        }
        step += 1
        return columns[order[step - 1].column].range(row)
    }

    private func column(_ name: String, _ type: String) throws -> Int {
        guard let column = names.firstIndex(of: name) else { throw ClickHouseError.malformed("it has no \(name)") }
        guard columns[column].type == type else {
            throw ClickHouseError.malformed("\(name) is \(columns[column].type) and not \(type)")
        }
        return column
    }

    private func elements<Number: FixedWidthInteger>(_ range: Range<Int>) throws -> [Number] {
        try stride(from: range.lowerBound, to: range.upperBound, by: Number.bitWidth / 8).map { try element(at: $0) }
    }

    private func element<Number: FixedWidthInteger>(at position: Int) throws -> Number {
        guard bytes.count - position >= Number.bitWidth / 8 else { throw Self.cutOff }
        return Number(
            littleEndian: bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: position, as: Number.self) })
    }

    private static let cutOff = ClickHouseError.malformed("it ends early")
}

/// The columns of blocks.
extension RowReader {
    /// The size of a number in bytes, by its type.
    private static let sizes = [
        "UInt8": 1, "Int8": 1, "UInt32": 4, "Int32": 4, "UInt64": 8, "Int64": 8, "Float64": 8,
    ]

    private mutating func readBlock() throws {
        let count = try length()
        rows = try length()
        guard count == names.count else {
            throw ClickHouseError.malformed("it has \(count) columns and not \(names.count)")
        }
        (columns, order) = ([], [])
        for _ in 0..<count {
            // ClickHouse's own name of the column.
            _ = try slice(try length())
            let type = try slice(try length())
            columns.append(try readColumn(String(decoding: bytes[type], as: UTF8.self)))
        }
    }

    private mutating func readColumn(_ type: String) throws -> Column {
        if type == "String" {
            return .ranges(try (0..<rows).map { _ in try slice(try length()) }, type: type)
        }
        if let element = Self.argument(of: type, "Array"), let size = Self.sizes[element] {
            // The ends of the arrays among all elements come before the elements.
            let ends: [UInt64] = try elements(try slice(rows, of: 8))
            let start = try slice(Int(clamping: ends.last ?? 0), of: size).lowerBound
            guard zip(ends, ends.dropFirst()).allSatisfy(<=) else { throw Self.cutOff }
            let bounds = ([0] + ends).map { start + Int($0) * size }
            return .ranges(zip(bounds, bounds.dropFirst()).map { $0..<$1 }, type: type)
        }
        guard let size = Self.sizes[type] ?? Self.argument(of: type, "FixedString").flatMap({ Int($0) }), size > 0
        else {
            throw ClickHouseError.malformed("it has a column of \(type)")
        }
        return .fixed(start: try slice(rows, of: size).lowerBound, size: size, type: type)
    }

    /// Returns the text in parentheses of a type such as `Array(Int32)`.
    private static func argument(of type: String, _ name: String) -> String? {
        type.hasPrefix(name + "(") ? String(type.dropFirst(name.count + 1).dropLast()) : nil
    }

    private mutating func length() throws -> Int {
        var (value, shift) = (UInt64(0), UInt64(0))
        while shift < 63 {
            let byte: UInt8 = try element(at: position)
            position += 1
            value |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return Int(clamping: value) }
            shift += 7
        }
        throw Self.cutOff
    }

    /// Takes the bytes of some values.
    private mutating func slice(_ count: Int, of size: Int = 1) throws -> Range<Int> {
        guard count <= (bytes.count - position) / size else { throw Self.cutOff }
        position += count * size
        return position - count * size..<position
    }
}
