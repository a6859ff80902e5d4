import MartletStorage

/// Endpoints of one service, kind, method and host whose names differ in the digits of one segment, such as
/// `/files/thumb-0.jpg` and `/files/thumb-1.jpg`. Most likely they are one endpoint that needs a template.
package struct EqualSiblings: Sendable, Equatable {
    /// The smallest number of endpoints that count as siblings. Fewer may well be different endpoints with numbers in their
    /// names.
    private static let fewest = 8
    /// The most templates that a sentence names.
    private static let maxNamed = 3

    /// A template for `MARTLET_ENDPOINTS` that matches all of the siblings.
    package let template: String
    /// The number of rows that are siblings.
    fileprivate(set) var count: Int

    /// Returns a sentence with the templates that merge the siblings of a report; `nil` if it has none.
    package static func sentence(about report: Report) -> String? {
        let named = all(in: report).prefix(maxNamed)
        guard !named.isEmpty else { return nil }
        let number = FigureText.grouped(UInt64(named.reduce(0) { $0 + $1.count }))
        let setting = "MARTLET_ENDPOINTS=" + named.map(\.template).joined(separator: ",")
        return "\(report.isCut ? "At least " : "")\(number) endpoints differ in digits only: \(setting) folds them"
    }

    /// Returns the siblings of a report, those with the most rows first. Each row belongs to only one of them.
    static func all(in report: Report) -> [EqualSiblings] {
        guard report.by.contains(.endpoint) else { return [] }
        var families: [Family: Set<Int>] = [:]
        for (index, row) in report.rows.enumerated() {
            for family in Family.all(of: row) { families[family, default: []].insert(index) }
        }
        var (folded, siblings) = (Set<Int>(), [EqualSiblings]())
        for (family, rows) in families.sorted(by: { isBefore($0, $1) }) where rows.count >= fewest {
            let rows = rows.subtracting(folded)
            guard rows.count >= fewest else { continue }
            folded.formUnion(rows)
            add(rows.count, family.template, to: &siblings)
        }
        return siblings.sorted { ($1.count, $0.template) < ($0.count, $1.template) }
    }

    private static func isBefore(_ one: (key: Family, value: Set<Int>), _ other: (key: Family, value: Set<Int>)) -> Bool
    {
        (other.value.count, one.key.template) < (one.value.count, other.key.template)
    }

    /// Adds siblings to those with the same template. Other services, methods and hosts may have some.
    private static func add(_ count: Int, _ template: String, to siblings: inout [EqualSiblings]) {
        if let index = siblings.firstIndex(where: { $0.template == template }) {
            siblings[index].count += count
        } else {
            siblings.append(EqualSiblings(template: template, count: count))
        }
    }
}

/// A group of rows whose endpoints differ only in the digits of one segment, and which are equal in all other dimensions.
private struct Family: Hashable {
    private let others: [Dimension: String?]
    private let pattern: String
    let template: String

    /// Returns the families of a row, one for each segment with digits. An endpoint that no template can match has none.
    static func all(of row: ReportRow) -> [Family] {
        let name = row.text(of: .endpoint)
        guard name.hasPrefix("/"), name.utf8.contains(where: isDigit) else { return [] }
        let segments = name.dropFirst().split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard segments.allSatisfy(areTemplates) else { return [] }
        var others = row.dimensions
        others[.endpoint] = nil
        return segments.indices.filter { segments[$0].utf8.contains(where: isDigit) }.map { index in
            Family(
                others: others, pattern: path(segments, index, as: withoutDigits(segments[index])),
                template: path(segments, index, as: "{name}"))
        }
    }

    private static func path(_ segments: [String], _ index: Int, as segment: String) -> String {
        var segments = segments
        segments[index] = segment
        return "/" + segments.joined(separator: "/")
    }

    /// Returns a segment with each number replaced by `#`, which occurs in no segment that a template can contain.
    private static func withoutDigits(_ segment: String) -> String {
        var text = ""
        for character in segment where !(character.isDigit && text.last == "#") {
            text.append(character.isDigit ? "#" : character)
        }
        return text
    }

    /// Whether a template can contain the segment unchanged and a shell can read it unquoted: a parameter, or plain characters.
    private static func areTemplates(_ segment: String) -> Bool {
        let isParameter = segment.hasPrefix("{") && segment.hasSuffix("}")
        let text = isParameter ? segment.dropFirst().dropLast() : segment[...]
        return !text.isEmpty && text.utf8.allSatisfy(isPlain)
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        let letter = byte | 0x20
        return isDigit(byte) || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(letter) || "-._@%+".utf8.contains(byte)
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
}

extension Character {
    fileprivate var isDigit: Bool { isASCII && isNumber }
}
