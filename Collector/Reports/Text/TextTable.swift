/// Cells in aligned columns. On a terminal the table is fitted to its width (``TableFit``).
struct TextTable {
    enum Alignment: Sendable {
        case left
        /// Aligned right, with decimal points under each other.
        case figure
    }

    struct Column: Sendable {
        var title: String
        var alignment = Alignment.left
        /// Whether its cells are names, which a narrow terminal cuts.
        var isName = false
        /// A narrow terminal drops the column with the lowest rank first. Columns with a rank below 0 are dropped before any
        /// long name is cut, and columns with a rank from ``lastRank`` on only after all names are cut. A column with `nil` is
        /// never dropped.
        var rank: Int?
        static let lastRank = 100
        /// Spaces before the column.
        var gap = 2
    }

    struct Cell: Sendable {
        let text: String
        let width: Int
        let tone: Tone?
        /// The width from the decimal point on; 0 for text without one.
        let fraction: Int

        init(_ text: String, _ tone: Tone? = nil) {
            self.text = TerminalText.plain(text)
            self.tone = tone
            width = TextWidth.of(self.text)
            let bytes = self.text.utf8
            fraction = bytes.lastIndex(of: UInt8(ascii: ".")).map { bytes.distance(from: $0, to: bytes.endIndex) } ?? 0
        }
    }

    private enum Line {
        case text(String)
        case titles
        case cells([Cell])
    }

    private let columns: [Column]
    private let titles: [Cell]
    private var lines: [Line] = []
    /// For each column of figures, the width of the widest part before the decimal point and of the widest part from it on. For
    /// other columns, the width of the widest cell.
    private var (heads, fractions): ([Int], [Int])

    init(_ columns: [Column]) {
        self.columns = columns
        titles = columns.map { Cell($0.title, .dim) }
        (heads, fractions) = (columns.map { _ in 0 }, columns.map { _ in 0 })
    }

    var lineCount: Int { lines.count }

    /// Adds a line of text between the others.
    mutating func add(text: String) { lines.append(.text(text)) }

    mutating func addTitles() { lines.append(.titles) }

    /// Adds a line with as many cells as the table has columns.
    mutating func add(_ cells: [Cell]) {
        for (column, cell) in cells.enumerated() {
            let fraction = fraction(of: cell, in: column)
            heads[column] = max(heads[column], cell.width - fraction)
            fractions[column] = max(fractions[column], fraction)
        }
        lines.append(.cells(cells))
    }

    private func fraction(of cell: Cell, in column: Int) -> Int {
        columns[column].alignment == .figure ? cell.fraction : 0
    }

    private func widths(on device: OutputDevice) -> [Int?] { fit.widths(on: device) }

    private var fit: TableFit {
        let contents = columns.indices.map { heads[$0] + fractions[$0] }
        return TableFit(columns: columns, contents: contents, titles: titles.map(\.width))
    }

    /// Returns how many characters of a terminal's line are free for a wider column (``TableFit/room(on:)``).
    func room(on device: OutputDevice) -> Int? { fit.room(on: device) }

    /// Returns the titles of non-empty columns that do not fit the terminal.
    func leftOut(on device: OutputDevice) -> [String] {
        let widths = widths(on: device)
        return columns.indices.filter { widths[$0] == nil && heads[$0] > 0 }.map { columns[$0].title }
    }

    func text(on device: OutputDevice) -> String {
        let widths = widths(on: device)
        var text = ""
        for line in lines {
            switch line {
            case .text(let line): text += line
            case .titles: append(titles, areTitles: true, widths, device, to: &text)
            case .cells(let cells): append(cells, areTitles: false, widths, device, to: &text)
            }
            text += "\n"
        }
        return text
    }

    /// Appends a line of cells, without padding at its end.
    private func append(
        _ cells: [Cell], areTitles: Bool, _ widths: [Int?], _ device: OutputDevice, to text: inout String
    ) {
        var (spaces, isFirst) = (0, true)
        for column in cells.indices {
            guard let width = widths[column] else { continue }
            let cell = cells[column]
            if !isFirst { spaces += columns[column].gap }
            isFirst = false
            let isFigure = columns[column].alignment == .figure
            let after = isFigure && !areTitles ? fractions[column] - cell.fraction : 0
            let padding = max(0, width - cell.width - after)
            if isFigure { spaces += padding }
            if cell.width > 0 {
                text += String(repeating: " ", count: spaces)
                let shown = cell.width > width ? TextWidth.cut(cell.text, to: width) : cell.text
                text += device.paint(shown, cell.tone)
                spaces = 0
            }
            spaces += isFigure ? after : padding
        }
    }
}

/// Chooses the columns that a table shows on a terminal, and the widths of its names.
///
/// Columns are dropped first, by rank, until names have enough room. Then names are cut, the widest first, and cut again on an
/// even narrower terminal. In a file, every column is shown, as wide as its widest cell.
struct TableFit {
    /// The width of a name up to which less important columns are dropped for it.
    static let longName = 32
    /// The width of a name up to which any column with a rank below ``TextTable/Column/lastRank`` is dropped for it.
    static let shortName = 16
    /// The most characters of a name in a line of text, which is not fitted.
    static let longestTitle = 40
    /// The width of a name up to which even the last columns with a rank are dropped for it.
    static let narrowName = 8
    /// The smallest width of a name.
    static let narrowestName = 4

    let columns: [TextTable.Column]
    /// The width of the widest cell of each column.
    let contents: [Int]
    let titles: [Int]

    /// Returns the width of each column; `nil` leaves a column out.
    func widths(on device: OutputDevice) -> [Int?] {
        let natural = columns.indices.map { max(contents[$0], titles[$0]) }
        guard let room = device.columns else { return natural }
        // On a terminal, a column without any figure is left out.
        var widths = columns.indices.map { column -> Int? in
            if columns[column].isName { return min(natural[column], room) }
            return contents[column] > 0 ? natural[column] : nil
        }
        let dropped = columns.indices.filter { columns[$0].rank != nil }
            .sorted { (columns[$0].rank ?? 0) < (columns[$1].rank ?? 0) }
        for column in dropped where total(widths, namesUpTo: nameRoom(column)) > room { widths[column] = nil }
        while total(widths) > room, let widest = widestName(widths) {
            widths[widest] = widths[widest].map { $0 - 1 }
        }
        return widths
    }

    /// Returns how many characters of a terminal's line the columns leave free if long names are cut; `nil` for a file.
    func room(on device: OutputDevice) -> Int? {
        device.columns.map { columns in
            columns - total(self.columns.indices.map { max(contents[$0], titles[$0]) }, namesUpTo: Self.longName)
        }
    }

    /// Returns the width up to which a name is more important than a column.
    private func nameRoom(_ column: Int) -> Int {
        switch columns[column].rank ?? 0 {
        case ..<0: Self.longName
        case ..<TextTable.Column.lastRank: Self.shortName
        default: Self.narrowName
        }
    }

    private func total(_ widths: [Int?], namesUpTo limit: Int = .max) -> Int {
        var (total, isFirst) = (0, true)
        for (column, width) in zip(columns, widths) {
            guard let width else { continue }
            total += (column.isName ? min(width, limit) : width) + (isFirst ? 0 : column.gap)
            isFirst = false
        }
        return total
    }

    private func widestName(_ widths: [Int?]) -> Int? {
        let names = columns.indices.filter { columns[$0].isName && (widths[$0] ?? 0) > Self.narrowestName }
        return names.max { (widths[$0] ?? 0) < (widths[$1] ?? 0) }
    }
}
