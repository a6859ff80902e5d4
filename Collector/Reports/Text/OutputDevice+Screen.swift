/// Painted lines on a screen, whose sequences (ECMA-48, SGR) take no room.
extension OutputDevice {
    private static let reset = "\u{1b}[0m"

    /// Returns a painted line in reverse.
    func selected(_ line: String) -> String {
        guard isColored else { return line }
        return "\u{1b}[7m" + line.replacing(Self.reset, with: "\u{1b}[0;7m") + Self.reset
    }

    /// Returns a painted line as lines that are no longer than the terminal's. They end at a blank where there is one.
    func wrapped(_ line: String) -> [String] {
        guard let columns, columns > 0 else { return [line] }
        var (lines, width, wordWidth, isSequence) = ([""], 0, 0, false)
        for character in line {
            if character == "\u{1b}" { isSequence = true }
            let room = isSequence ? 0 : TextWidth.of(String(character))
            if width + room > columns {
                let full = lines.removeLast()
                let end = full.lastIndex(of: " ").map(full.index(after:)) ?? full.endIndex
                lines += [String(full[..<end]), String(full[end...])]
                width = end == full.endIndex ? 0 : wordWidth
                wordWidth = width
            }
            lines[lines.count - 1].append(character)
            width += room
            wordWidth = character == " " ? 0 : wordWidth + room
            if isSequence, character == "m" { isSequence = false }
        }
        return lines
    }
}
