import MartletReports
import MartletTelemetry

/// The kept header fields and body of a request or of its response.
struct MessagePanel {
    /// The maximum size of the shown part of the body, in bytes.
    private static let bodyBytes = 65_536

    let title: String
    let id: String
    let headers: [String: [String]]
    let body: String?

    var html: HTML {
        element("section", .class("panel"), Attribute("aria-labelledby", id)) {
            element("h2", .id(id)) { title }
            if headers.isEmpty {
                element("p", .class("hint")) { "No headers are kept." }
            } else {
                KeyValuePanel.table(fields)
            }
            content
        }
    }

    private var fields: [(String, String)] {
        headers.sorted { $0.key < $1.key }.flatMap { name, values in values.map { (name, $0) } }
    }

    private var content: HTML {
        guard let body else { return element("p", .class("hint")) { "No body is kept." } }
        return HTML.joined([
            element("h3") {
                "Body "
                element("small") {
                    ([FigureText.grouped(UInt64(body.utf8.count)) + " bytes are kept"]
                        + (headers["content-type"]?.first.map { [$0.cut(toBytes: 100)] } ?? [])).joined(separator: ", ")
                }
            },
            element("pre", Attribute("tabindex", "0")) { LongText.html(body, atMost: Self.bodyBytes) },
        ])
    }
}

/// Kept names and values. A request may have many of them, of any length.
struct KeyValuePanel {
    /// The maximum number of pairs that are shown, and the maximum lengths of each name and value in bytes.
    private static let (maxPairs, nameBytes, valueBytes) = (200, 200, 2048)

    let title: String
    let id: String
    let pairs: [(String, String)]

    var html: HTML {
        guard !pairs.isEmpty else { return .none }
        return element("section", .class("panel"), Attribute("aria-labelledby", id)) {
            element("h2", .id(id)) { title }
            Self.table(pairs)
        }
    }

    static func table(_ pairs: [(String, String)]) -> HTML {
        HTML.joined([
            element("table", .class("grid kv")) {
                element("tbody") {
                    for (name, value) in pairs.prefix(maxPairs) {
                        element("tr") {
                            element("th", Attribute("scope", "row")) { LongText.html(name, atMost: nameBytes) }
                            element("td") { LongText.html(value, atMost: valueBytes) }
                        }
                    }
                }
            },
            pairs.count > maxPairs
                ? element("p", .class("hint")) { "\(pairs.count - maxPairs) more are in the JSON." } : .none,
        ])
    }
}

/// The request as a command that sends it again.
struct CurlPanel {
    /// The maximum size of a command that is shown, in bytes. A command that was cut would send something else.
    private static let maxBytes = 65_536

    let report: RequestReport

    var html: HTML {
        guard let command = CurlCommand.text(of: report) else { return .none }
        let isShort = command.utf8.count <= Self.maxBytes
        return element("section", .class("panel"), Attribute("aria-labelledby", "h-curl")) {
            element("div", .class("bar-head")) {
                element("h2", .id("h-curl")) { "As curl" }
                if isShort {
                    element("button", Attribute("type", "button"), Attribute("data-copy", "#curl")) { "Copy" }
                }
            }
            if command.contains(SpanSecrets.placeholder) { gaps }
            if isShort {
                element("pre", .id("curl"), .class("select"), Attribute("tabindex", "0")) { command }
            } else {
                element("p", .class("hint")) {
                    """
                    It is too long to show: \(FigureText.grouped(UInt64(command.utf8.count))) bytes. The command below prints it.
                    """
                }
            }
        }
    }

    private var gaps: HTML {
        element("p", .class("hint")) {
            "Redacted values appear as "
            element("code") { SpanSecrets.placeholder }
            ". Replace them before you send the request."
        }
    }
}
