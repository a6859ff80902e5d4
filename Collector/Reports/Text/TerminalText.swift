/// Makes text safe to print. Senders choose their names, so characters that would steer a terminal, turn text around or hide
/// in it are written out.
package enum TerminalText {
    package static func plain(_ text: String) -> String {
        // Nearly all text is plain ASCII; other text is checked character by character.
        if text.utf8.allSatisfy({ (0x20..<0x7f).contains($0) }) { return text }
        return text.unicodeScalars.reduce(into: "") { plain, scalar in
            if isPlain(scalar) {
                plain.unicodeScalars.append(scalar)
            } else {
                plain += "\\u{\(String(scalar.value, radix: 16))}"
            }
        }
    }

    package static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        if scalar == " " { return true }
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .spaceSeparator, .surrogate, .privateUse,
            .unassigned:
            return false
        // Fillers and selectors of variants have no width, whatever their category is.
        default: return !scalar.properties.isDefaultIgnorableCodePoint
        }
    }
}
