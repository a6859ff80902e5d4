import MartletStorage

/// The names of rows in sentences: method and endpoint, and what else tells a row from others with the same ones.
struct RowName {
    /// Rows that a sentence names at most.
    private static let maxListed = 5

    private let by: [Dimension]
    private let short: [Dimension]
    private let namesakes: [String: [ReportRow]]

    /// - Parameter rows: all rows that are told apart.
    init(of rows: [ReportRow], by: [Dimension]) {
        let named = by.filter { [.method, .endpoint].contains($0) }
        let short = named.isEmpty ? by.suffix(1) : named
        (self.by, self.short) = (by, short)
        namesakes = Dictionary(grouping: rows) { Self.text($0, short) }
    }

    /// Returns the name with its characters as they are.
    func of(_ row: ReportRow) -> String {
        let text = Self.text(row, dimensions(of: row))
        return text.isEmpty ? by.map { "no \($0.rawValue)" }.joined(separator: ", ") : text
    }

    /// Returns the names of the first rows and the number of the others, such as `GET /a, GET /b and 7 more`; `nil` if there are none.
    func list(of rows: some Collection<ReportRow>) -> String? {
        rows.isEmpty ? nil : NameList.text(rows.map { TerminalText.plain(of($0)) }, atMost: Self.maxListed)
    }

    /// Returns the dimensions that tell a row from all others.
    func dimensions(of row: ReportRow) -> [Dimension] {
        let others = namesakes[Self.text(row, short)] ?? []
        return by.filter { dimension in
            short.contains(dimension) || others.contains { $0.dimensions[dimension] != row.dimensions[dimension] }
        }
    }

    private static func text(_ row: ReportRow, _ dimensions: [Dimension]) -> String {
        dimensions.map { row.text(of: $0) }.filter { !$0.isEmpty }.joined(separator: " ")
    }
}

extension [Dimension] {
    /// The word for a row of a report by these dimensions: the only dimension, or `endpoint`, or `row`.
    var wordForRow: String {
        if count == 1 { return self[0].rawValue }
        return contains(.endpoint) && allSatisfy(ReportParameter.defaultBy.contains)
            ? Dimension.endpoint.rawValue : "row"
    }

    /// Returns a number of rows: `1 endpoint`, `7 endpoints`.
    func rows(_ count: Int) -> String {
        let plural = wordForRow == Dimension.status.rawValue ? "statuses" : wordForRow + "s"
        return "\(FigureText.grouped(UInt64(count))) \(count == 1 ? wordForRow : plural)"
    }
}
