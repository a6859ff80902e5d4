import MartletReports

/// A text in parts: those that are read as they are, and codes for characters that are not seen.
enum VisibleText {
    enum Part: Equatable {
        case plain(String)
        /// Characters as their codes, such as `\u{202e}`.
        case codes(String)
    }

    static func parts(of text: String) -> [Part] {
        // Nearly all text is plain ASCII.
        if text.utf8.allSatisfy({ (0x20..<0x7f).contains($0) }) { return [.plain(text)] }
        var (parts, run, isPlain) = ([Part](), String.UnicodeScalarView(), true)
        func close() {
            guard !run.isEmpty else { return }
            parts.append(isPlain ? .plain(String(run)) : .codes(TerminalText.plain(String(run))))
            run = String.UnicodeScalarView()
        }
        for scalar in text.unicodeScalars {
            // A body has lines and tabs, which a page shows as such.
            let isSeen = TerminalText.isPlain(scalar) || scalar == "\n" || scalar == "\t"
            if isSeen != isPlain { close() }
            isPlain = isSeen
            run.append(scalar)
        }
        close()
        return parts
    }
}
