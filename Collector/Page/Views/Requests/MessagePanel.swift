import MartletReports

/// The header fields and the body of a request, or of its response, as they were kept.
struct MessagePanel {
    /// Bytes of the body that are shown at most.
    private static let bodyBytes = 65_536

    let title: String
    let id: String
    let headers: [String: [String]]
    let body: String?

    var html: HTML {
        element("section", .class("panel"), Attribute("aria-labelledby", id)) {
            element("h2", .id(id)) { title }
            if headers.isEmpty {
                element("p", .class("hint")) { "No header field is kept." }
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
