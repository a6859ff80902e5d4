import MartletReports

/// A piece of a page. It is made of elements and texts alone, and each text is escaped when it becomes one, so that no name of
/// a sender can turn into markup.
package struct HTML: Sendable, Equatable {
    /// The markup, in UTF-8.
    package private(set) var bytes: [UInt8]

    /// Nothing.
    static let none = HTML(bytes: [])

    /// Creates a text. Characters that are not seen, or turn text around, are written as codes that are seen.
    init(_ text: String) {
        bytes = []
        bytes.reserveCapacity(text.utf8.count)
        for part in VisibleText.parts(of: text) { append(part) }
    }

    /// Creates an element.
    ///
    /// - Parameter content: `nil` for an element that has no end tag, such as `input`.
    init(_ name: StaticString, _ attributes: [Attribute], content: HTML?) {
        bytes = []
        append("<", name)
        for attribute in attributes { append(attribute) }
        bytes.append(UInt8(ascii: ">"))
        guard let content else { return }
        bytes += content.bytes
        append("</", name)
        bytes.append(UInt8(ascii: ">"))
    }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    static func joined(_ pieces: [HTML]) -> HTML {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(pieces.reduce(0) { $0 + $1.bytes.count })
        for piece in pieces { bytes += piece.bytes }
        return HTML(bytes: bytes)
    }

    /// Returns a whole document.
    static func document(_ root: HTML) -> HTML {
        var document = HTML.none
        document.append("<!doctype html", ">")
        return joined([document, root])
    }

    var isEmpty: Bool { bytes.isEmpty }

    private mutating func append(_ start: StaticString, _ name: StaticString) {
        for text in [start, name] { text.withUTF8Buffer { bytes += $0 } }
    }

    private mutating func append(_ attribute: Attribute) {
        append(" ", attribute.name)
        guard let value = attribute.value else { return }
        append("=", "\"")
        HTMLEscape.append(attribute.isExact ? value : TerminalText.plain(value), to: &bytes)
        bytes.append(UInt8(ascii: "\""))
    }

    private mutating func append(_ part: VisibleText.Part) {
        switch part {
        case .plain(let text): HTMLEscape.append(text, to: &bytes)
        case .codes(let codes):
            append("<span class=\"code\"", ">")
            HTMLEscape.append(codes, to: &bytes)
            append("</span", ">")
        }
    }
}

/// Escapes text byte by byte, as the HTML Standard asks (section 13.3, "escaping a string"). A joiner after `<` makes another
/// character of it for Swift, and none for a browser.
private enum HTMLEscape {
    static func append(_ text: String, to bytes: inout [UInt8]) {
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "&"): bytes += "&amp;".utf8
            case UInt8(ascii: "<"): bytes += "&lt;".utf8
            case UInt8(ascii: ">"): bytes += "&gt;".utf8
            case UInt8(ascii: "\""): bytes += "&quot;".utf8
            case UInt8(ascii: "'"): bytes += "&#39;".utf8
            // A browser takes the character itself for the end of a line.
            case UInt8(ascii: "\r"): bytes += "&#13;".utf8
            default: bytes.append(byte)
            }
        }
    }
}
