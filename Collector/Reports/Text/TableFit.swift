/// The columns that a table shows on a terminal, and the widths of its names.
///
/// Columns go first, by their rank, as long as names have not the room that they are worth. Then names are cut, the widest
/// first, and once more on a terminal that is narrower still. A file has every column, as wide as its widest cell.
struct TableFit {
    /// Characters of a name that less important columns make room for.
    static let longName = 32
    /// Characters of a name that all columns make room for.
    static let shortName = 16
    /// Characters of a name in a line of text, which is not fitted.
    static let longestTitle = 40
    /// Characters of a name that are shown beside every column that stays.
    static let narrowName = 8
    /// Characters of a name that are always shown.
    static let narrowestName = 4

    let columns: [TextTable.Column]
    /// The width of the widest cell of each column.
    let contents: [Int]
    let titles: [Int]

    /// Returns the width of each column; `nil` leaves it out.
    func widths(on device: OutputDevice) -> [Int?] {
        let natural = columns.indices.map { max(contents[$0], titles[$0]) }
        guard let room = device.columns else { return natural }
        // A terminal has no column without a figure in it.
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

    /// Returns the characters of a terminal's line that the columns leave free if long names are cut; `nil` for a file.
    func room(on device: OutputDevice) -> Int? {
        device.columns.map { columns in
            columns - total(self.columns.indices.map { max(contents[$0], titles[$0]) }, namesUpTo: Self.longName)
        }
    }

    /// Returns the characters of a name that are more worth than a column.
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
