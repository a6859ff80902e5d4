/// Cells in aligned columns, two spaces between them.
struct TextTable {
    enum Alignment {
        case left
        case right
    }

    /// What is longer is cut, with an ellipsis at its end.
    static let maxCellWidth = 40

    private struct Cell {
        let text: String
        let width: Int

        init(_ text: String) {
            let plain = TerminalText.plain(text)
            let width = plain.count
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

    /// As many cells as there are columns.
    mutating func add(_ cells: [String]) {
        let line = cells.map(Cell.init)
        for (column, cell) in line.enumerated() { widths[column] = max(widths[column], cell.width) }
        lines.append(line)
    }

    var text: String {
        var text = ""
        for line in lines { append(line, to: &text) }
        return text
    }

    /// No column is filled up where nothing comes behind it.
    private func append(_ line: [Cell], to text: inout String) {
        var spaces = 0
        for (column, cell) in line.enumerated() {
            let padding = widths[column] - cell.width
            if alignments[column] == .right { spaces += padding }
            if cell.width > 0 {
                for _ in 0..<spaces { text += " " }
                text += cell.text
                spaces = 0
            }
            if alignments[column] == .left { spaces += padding }
            spaces += 2
        }
        text += "\n"
    }
}
