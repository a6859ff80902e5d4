import Testing

@testable import MartletClickHouseStorage

/// The reading of ClickHouse's answers. It needs no server.
struct RowReaderTests {
    private static let columns: Selection = ["a": "max(a)", "b": "b", "c": "c"]

    /// A block of two rows.
    private static let block: [UInt8] = {
        var block = TableRows(Schema.point)
        for count in [3, 2] as [UInt8] { block.number(count) }
        for text in ["max(a)", "UInt64"] { block.text(text) }
        for number in [7, 8] as [UInt64] { block.number(number) }
        for text in ["b", "String", "first", ""] { block.text(text) }
        for text in ["c", "Array(Int32)"] { block.text(text) }
        for end in [2, 2] as [UInt64] { block.number(end) }
        for element in [-1, 5] as [Int32] { block.number(element) }
        return block.bytes
    }()

    private func failure(_ columns: Selection = Self.columns, _ read: (inout RowReader) throws -> Void) -> String? {
        var reader = RowReader(Self.block, columns)
        let error = #expect(throws: ClickHouseError.self) {
            _ = try reader.next()
            try read(&reader)
        }
        return error?.description
    }

    @Test func valuesOfAllBlocksAreReadByNameInAnyOrder() throws {
        var reader = RowReader(Self.block + Self.block, Self.columns)
        var (numbers, texts, arrays) = ([UInt64](), [String](), [[Int32]]())
        while try reader.next() {
            // The order differs from row to row.
            if numbers.count % 2 == 0 { arrays.append(try reader.numbers("c")) }
            texts.append(try reader.text("b"))
            if numbers.count % 2 == 1 { arrays.append(try reader.numbers("c")) }
            numbers.append(try reader.number("a"))
        }
        #expect(numbers == [7, 8, 7, 8])
        #expect(texts == ["first", "", "first", ""])
        #expect(arrays == [[-1, 5], [], [-1, 5], []])
    }

    @Test func errorNamesAMissingColumnAndOneOfAnotherType() {
        let prefix = "ClickHouse's answer cannot be read: "
        #expect(failure { _ = try $0.text("d") } == prefix + "it has no d")
        #expect(failure { _ = try $0.number("a", Int64.self) } == prefix + "a is UInt64 and not Int64")
        #expect(failure(["a", "b"]) { _ in } == prefix + "it has 3 columns and not 2")
    }

    @Test func answerThatEndsEarlyIsRefused() {
        for count in 1..<Self.block.count {
            var reader = RowReader(Array(Self.block.prefix(count)), Self.columns)
            #expect(throws: ClickHouseError.self) { _ = try reader.next() }
        }
    }
}
