import MartletReports

/// A piece of a page. It consists only of elements and texts. Each text is escaped when it is added, so that no sender's name can
/// become markup.
package struct HTML: Sendable, Equatable {
    /// The markup, in UTF-8.
    package private(set) var bytes: [UInt8]

    /// An empty piece.
    static let none = HTML(bytes: [])

    /// Creates a text. Characters that are invisible or reverse text are shown as codes.
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

    /// Returns a complete document.
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

/// Escapes text byte by byte, as the HTML Standard requires (section 13.3, "escaping a string"). To Swift, `<` followed by a
/// joiner is another character; to a browser it is not.
private enum HTMLEscape {
    static func append(_ text: String, to bytes: inout [UInt8]) {
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "&"): bytes += "&amp;".utf8
            case UInt8(ascii: "<"): bytes += "&lt;".utf8
            case UInt8(ascii: ">"): bytes += "&gt;".utf8
            case UInt8(ascii: "\""): bytes += "&quot;".utf8
            case UInt8(ascii: "'"): bytes += "&#39;".utf8
            // A browser reads the character itself as a line break.
            case UInt8(ascii: "\r"): bytes += "&#13;".utf8
            default: bytes.append(byte)
            }
        }
    }
}

/// Returns an element with content.
func element(_ name: StaticString, _ attributes: Attribute..., @HTMLBuilder content: () -> HTML) -> HTML {
    HTML(name, attributes, content: content())
}

/// Returns an element with attributes that are put together elsewhere.
func element(_ name: StaticString, _ attributes: [Attribute], @HTMLBuilder content: () -> HTML) -> HTML {
    HTML(name, attributes, content: content())
}

/// Returns an element that never has content, such as `input`.
func emptyElement(_ name: StaticString, _ attributes: Attribute...) -> HTML {
    HTML(name, attributes, content: nil)
}

func link(
    _ address: PageAddress, _ attributes: Attribute..., @HTMLBuilder content: () -> HTML
) -> HTML {
    HTML("a", [.href(address)] + attributes, content: content())
}

/// Returns a link to an element of the same page.
func jump(to id: String, _ attributes: Attribute..., @HTMLBuilder content: () -> HTML) -> HTML {
    HTML("a", [Attribute("href", "#" + id)] + attributes, content: content())
}

/// Joins pieces and texts.
@resultBuilder enum HTMLBuilder {
    static func buildExpression(_ piece: HTML) -> HTML { piece }
    static func buildExpression(_ text: String) -> HTML { HTML(text) }
    static func buildExpression(_ pieces: [HTML]) -> HTML { HTML.joined(pieces) }
    static func buildBlock(_ pieces: HTML...) -> HTML { HTML.joined(pieces) }
    static func buildOptional(_ piece: HTML?) -> HTML { piece ?? .none }
    static func buildEither(first piece: HTML) -> HTML { piece }
    static func buildEither(second piece: HTML) -> HTML { piece }
    static func buildArray(_ pieces: [HTML]) -> HTML { HTML.joined(pieces) }
}

/// An attribute of an element. Its value is escaped when the element is created.
struct Attribute: Sendable {
    let name: StaticString
    /// `nil` for an attribute without a value, such as `hidden`.
    let value: String?
    /// Whether a browser gets all characters unchanged. In any other attribute, invisible characters are written as codes.
    let isExact: Bool

    init(_ name: StaticString, _ value: String? = nil) { self.init(name, value, isExact: false) }

    private init(_ name: StaticString, _ value: String?, isExact: Bool) {
        (self.name, self.value, self.isExact) = (name, value, isExact)
    }

    /// The value that a form sends.
    static func value(_ value: String) -> Attribute { Attribute("value", value, isExact: true) }

    static func `class`(_ names: String) -> Attribute { Attribute("class", names) }

    static func id(_ id: String) -> Attribute { Attribute("id", id) }

    static func role(_ role: String) -> Attribute { Attribute("role", role) }

    /// The name of an element without text.
    static func label(_ text: String) -> Attribute { Attribute("aria-label", text) }

    /// A link. It accepts only an address of this page, so the page never links to an address that a service called.
    static func href(_ address: PageAddress) -> Attribute { Attribute("href", address.text) }

    static let hidden = Attribute("aria-hidden", "true")
}

/// A text in parts: readable text, and codes for invisible characters.
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
            // A body has line breaks and tabs, which a page displays.
            let isSeen = TerminalText.isPlain(scalar) || scalar == "\n" || scalar == "\t"
            if isSeen != isPlain { close() }
            isPlain = isSeen
            run.append(scalar)
        }
        close()
        return parts
    }
}
