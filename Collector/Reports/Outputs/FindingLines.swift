/// Findings as text: a line for each, the most expensive first.
package struct FindingLines: Sendable, Equatable {
    /// A finding. Its texts are as senders named things.
    package struct Line: Sendable, Equatable {
        /// The columns of the kind, and the most columns of a line.
        private static let kindWidth = 9, width = 120
        /// The columns below which a line is not wrapped further.
        private static let narrowest = 40

        /// Whether requests suffer from it.
        package var sign: String
        package var kind: String
        package var sentence: String

        package init(sign: String, kind: String, sentence: String) {
            (self.sign, self.kind, self.sentence) = (sign, kind, sentence)
        }

        /// Returns the sentence and what follows below it, wrapped to the right of the kind.
        package func text(number: Int? = nil, details: String = "", on device: OutputDevice) -> [String] {
            let head = (number.map { Self.padded("\($0)", to: 2) } ?? "") + sign + " "
            let indent = TextWidth.of(head) + Self.kindWidth + 1
            let columns = max(Self.narrowest, min(device.columns ?? Self.width, Self.width)) - indent
            let start = head + device.paint(Self.padded(kind, to: Self.kindWidth), .bold) + " "
            let texts = [sentence, details].map(TerminalText.plain).filter { !$0.isEmpty }
            return texts.flatMap { Self.wrapped($0, columns) }.enumerated().map { index, line in
                (index == 0 ? start : String(repeating: " ", count: indent)) + line
            }
        }

        private static func padded(_ text: String, to width: Int) -> String {
            text + String(repeating: " ", count: max(0, width - TextWidth.of(text)))
        }

        private static func wrapped(_ text: String, _ columns: Int) -> [String] {
            var lines: [String] = []
            for word in text.split(separator: " ") {
                if let last = lines.last, TextWidth.of(last) + 1 + TextWidth.of(String(word)) <= columns {
                    lines[lines.count - 1] = last + " " + word
                } else {
                    lines.append(String(word))
                }
            }
            return lines
        }

        fileprivate var markdown: String { "- \(sign) **\(kind)** \(MarkdownText.escaped(sentence))\n" }
    }

    private let lines: [Line]
    /// The findings without a line.
    private let others: Int
    /// The command that lists all of them.
    private let command: String

    package init(_ lines: [Line] = [], others: Int = 0, command: String = "") {
        (self.lines, self.others, self.command) = (lines, others, command)
    }

    /// Returns the lines above a table, and an empty one after them; none if there are no findings.
    func heading(on device: OutputDevice) -> [String] {
        guard !lines.isEmpty else { return [] }
        let more = others > 0 ? ["\(device.paint(rest, .dim)) \(command)"] : []
        return lines.flatMap { $0.text(on: device) } + more + [""]
    }

    /// A list with its empty line; empty if there are no findings.
    var markdown: String {
        guard !lines.isEmpty else { return "" }
        let more = others > 0 ? MarkdownText.paragraphs([rest, "  " + command]) : ""
        return lines.map(\.markdown).joined() + "\n" + more
    }

    private var rest: String { "and \(others) more:" }
}
