/// The main figures of one thing, in a row.
enum FactStrip {
    struct Fact {
        let title: String
        let value: HTML
        /// The figure's meaning, in small type.
        var note = ""
        var isBad = false
        /// Whether it takes the room of two.
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
