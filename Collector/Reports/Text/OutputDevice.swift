/// The reader's end of an output.
package struct OutputDevice: Sendable, Equatable {
    /// Characters of a line of the terminal; `nil` for a file or a pipe, whose lines are never cut.
    package var columns: Int?
    package var isColored: Bool

    package init(columns: Int? = nil, isColored: Bool = false) {
        self.columns = columns
        self.isColored = isColored
    }

    package static let file = OutputDevice()

    package var isTerminal: Bool { columns != nil }

    func paint(_ text: String, _ tone: Tone?) -> String {
        guard isColored, let tone, !text.isEmpty else { return text }
        return "\u{1b}[\(tone.rawValue)m\(text)\u{1b}[0m"
    }
}

/// A colour or weight of text. It adds to a word or a sign and never replaces it. The raw value is the parameter of the
/// sequence that selects it (ECMA-48, SGR).
enum Tone: Int, Sendable {
    case bold = 1
    case dim = 2
    case red = 31
    case green = 32
    case yellow = 33
}
