import MartletReports
import MartletTelemetry

/// A table whose rows become cards on a narrow screen. ARIA roles keep it a table for screen readers.
enum DataTable {
    /// - Parameters:
    ///   - name: the classes of the table.
    ///   - heading: the id of the element that names the table.
    static func html(_ name: String, heading: String, @HTMLBuilder content: () -> HTML) -> HTML {
        element(
            "div", .class("scroll"), Attribute("tabindex", "0"), .role("region"), Attribute("aria-labelledby", heading)
        ) { element("table", .class(name), .role("table"), content: content) }
    }

    static func head(@HTMLBuilder cells: () -> HTML) -> HTML {
        element("thead", .role("rowgroup")) { row(cells: cells) }
    }

    static func body(@HTMLBuilder rows: () -> HTML) -> HTML { element("tbody", .role("rowgroup"), content: rows) }

    static func foot(@HTMLBuilder rows: () -> HTML) -> HTML { element("tfoot", .role("rowgroup"), content: rows) }

    static func row(@HTMLBuilder cells: () -> HTML) -> HTML { element("tr", .role("row"), content: cells) }

    /// The title of a column.
    static func title(_ name: String, _ text: String) -> HTML {
        element("th", Attribute("scope", "col"), .role("columnheader"), .class(name)) { text }
    }

    /// The cell that names a row.
    static func name(@HTMLBuilder content: () -> HTML) -> HTML {
        element("th", Attribute("scope", "row"), .role("rowheader"), .class("first"), content: content)
    }

    /// - Parameter label: the column's title, which a card shows next to the figure.
    static func cell(_ label: String, _ name: String = "", @HTMLBuilder content: () -> HTML) -> HTML {
        element(
            "td", [.role("cell"), Attribute("data-label", label)] + (name.isEmpty ? [] : [.class(name)]),
            content: content)
    }
}

/// Whether a row has changed: a symbol, a word and the reason.
enum VerdictCell {
    static func html(_ verdict: Verdict) -> HTML {
        HTML.joined([
            element("span", .class("verdict \(name(of: verdict))")) {
                icon(of: verdict).html
                VerdictText.word(verdict)
            },
            element("span", .class("why")) {
                let changes = VerdictText.changes(verdict)
                changes.isEmpty ? VerdictText.why(verdict) : changes
            },
        ])
    }

    /// The CSS class for the verdict's colour.
    private static func name(of verdict: Verdict) -> String {
        switch verdict {
        case .worse: "worse"
        case .better: "better"
        case .noChangeFound: "same"
        case .tooLittleData: "few"
        }
    }

    private static func icon(of verdict: Verdict) -> Icon {
        switch verdict {
        case .worse: .up
        case .better: .down
        case .noChangeFound: .same
        case .tooLittleData: .few
        }
    }
}

/// The status or the error of a request, with a symbol if it failed.
enum RequestOutcomeMark {
    /// - Parameter bytes: the maximum size of the text, in bytes.
    static func html(_ request: RequestSummary, atMost bytes: Int) -> HTML {
        html(RequestsTable.outcome(of: request), isFailure: request.failed, atMost: bytes)
    }

    static func html(_ text: String, isFailure: Bool, atMost bytes: Int) -> HTML {
        element("span", .class(isFailure ? "st bad" : "st")) {
            if isFailure { Icon.failed.html }
            // One box, so that codes of invisible characters stay within the text.
            element("span") { LongText.html(text, atMost: bytes) }
        }
    }
}

/// The beginning of a text of any length, and how much is left out. Places where secrets were removed are marked.
enum LongText {
    /// - Parameter bytes: the maximum size of the part that is shown, in bytes.
    static func html(_ text: String, atMost bytes: Int) -> HTML {
        let shown = text.cut(toBytes: bytes)
        let more = UInt64(text.utf8.count - shown.utf8.count)
        return HTML.joined(
            marked(shown) + [more > 0 ? rest(more) : .none])
    }

    private static func marked(_ text: String) -> [HTML] {
        let parts = text.split(separator: SpanSecrets.placeholder, omittingEmptySubsequences: false)
        return parts.enumerated().flatMap { index, part in
            index == 0 ? [HTML(String(part))] : [redacted, HTML(String(part))]
        }
    }

    private static var redacted: HTML { element("span", .class("redacted")) { SpanSecrets.placeholder } }

    private static func rest(_ bytes: UInt64) -> HTML {
        element("small", .class("rest")) { " … and \(FigureText.grouped(bytes)) more bytes" }
    }
}

/// The main figures about one subject, in a row.
enum FactStrip {
    struct Fact {
        let title: String
        let value: HTML
        /// An explanation of the figure, in small type.
        var note = ""
        var isBad = false
        /// Whether the fact is twice as wide as others.
        var isWide = false
    }

    static func html(_ facts: [Fact], id: String? = nil) -> HTML {
        element("dl", [.class("facts")] + (id.map { [.id($0)] } ?? [])) { for fact in facts { html(fact) } }
    }

    private static func html(_ fact: Fact) -> HTML {
        let names = (fact.isBad ? ["bad"] : []) + (fact.isWide ? ["go"] : [])
        return element("div", names.isEmpty ? [] : [.class(names.joined(separator: " "))]) {
            element("dt") { fact.title }
            element("dd") {
                if fact.isBad { Icon.failed.html }
                fact.value
                if !fact.note.isEmpty { element("small") { " " + fact.note } }
            }
        }
    }
}
