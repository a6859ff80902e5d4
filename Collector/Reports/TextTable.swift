/// Cells in aligned columns, two spaces between them.
struct TextTable {
    enum Alignment {
        case left
        case right
    }

    /// Characters of a cell at most; a longer text is cut and ends with an ellipsis.
    static let maxCellWidth = 40

    private struct Cell {
        let text: String
        let width: Int

        init(_ text: String) {
            let plain = TerminalText.plain(text)
            // A byte of ASCII is a character here: CR and LF, which would join into one, have been written out.
            let width = plain.utf8.allSatisfy { $0 < 0x80 } ? plain.utf8.count : plain.count
            let isTooLong = width > maxCellWidth
            self.text = isTooLong ? plain.prefix(maxCellWidth - 1) + "…" : plain
            self.width = isTooLong ? maxCellWidth : width
        }
    }

    private let alignments: [Alignment]
    private var lines: [[Cell]] = []
    private var widths: [Int]

    init(_ columns: [(title: String, alignment: Alignment)]) {
        alignments = columns.map(\.alignment)
        widths = columns.map { _ in 0 }
        add(columns.map(\.title))
    }

    /// Adds a line with as many cells as the table has columns.
    mutating func add(_ cells: [String]) {
        let line = cells.map(Cell.init)
        for (column, cell) in line.enumerated() { widths[column] = max(widths[column], cell.width) }
        lines.append(line)
    }

    var text: String {
        var bytes: [UInt8] = []
        for line in lines { append(line, to: &bytes) }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Leaves out the padding at the end of a line.
    private func append(_ line: [Cell], to bytes: inout [UInt8]) {
        var spaces = 0
        for column in line.indices {
            let width = line[column].width
            let padding = widths[column] - width
            if alignments[column] == .right { spaces += padding }
            if width > 0 {
                bytes.append(contentsOf: repeatElement(UInt8(ascii: " "), count: spaces))
                bytes.append(contentsOf: line[column].text.utf8)
                spaces = 0
            }
            if alignments[column] == .left { spaces += padding }
            spaces += 2
        }
        bytes.append(UInt8(ascii: "\n"))
    }
}
