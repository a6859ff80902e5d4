/// Cells in aligned columns, two spaces between them.
struct TextTable {
    enum Alignment {
        case left
        case right
    }

    /// What is longer is cut, with an ellipsis at its end.
    static let maxCellWidth = 40

    private let alignments: [Alignment]
    private var lines: [[String]]

    init(_ columns: [(title: String, alignment: Alignment)]) {
        alignments = columns.map(\.alignment)
        lines = [columns.map(\.title)]
    }

    /// As many cells as there are columns.
    mutating func add(_ cells: [String]) {
        lines.append(cells.map(Self.cell))
    }

    var text: String {
        let widths = alignments.indices.map { column in lines.map { $0[column].count }.max() ?? 0 }
        return lines.map { line in
            var text = ""
            for (column, cell) in line.enumerated() {
                let padding = String(repeating: " ", count: widths[column] - cell.count)
                text += (column > 0 ? "  " : "") + (alignments[column] == .left ? cell + padding : padding + cell)
            }
            while text.last == " " { text.removeLast() }
            return text + "\n"
        }.joined()
    }

    private static func cell(_ text: String) -> String {
        let plain = TerminalText.plain(text)
        return plain.count > maxCellWidth ? plain.prefix(maxCellWidth - 1) + "…" : plain
    }
}
