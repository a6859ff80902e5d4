/// Names and values as they were kept. A request may have many, and each of any length.
struct KeyValuePanel {
    /// Pairs that are shown at most, and bytes of each name and value.
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
