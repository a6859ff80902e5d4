import MartletReports

/// A ledger as one bar: delivered, waiting and dropped requests as shares of those that were captured.
enum LedgerBar {
    static func html(_ ledger: AgentsReport.Account) -> HTML {
        let parts = [("l-ok", ledger.delivered), ("l-wait", ledger.waiting), ("l-drop", ledger.droppedCount)]
        // The parts of a sender that lies may be more than the whole.
        let whole = max(Double(ledger.captured), parts.reduce(0) { $0 + Double($1.1) })
        var x = 0.0
        let bars = parts.filter { $0.1 > 0 }.map { name, count in
            let width = Double(count) / whole
            defer { x += width }
            return SVG.rect(name, x: x, width: width, height: 6)
        }
        return SVG.wide("ledger", height: 6, .hidden) { bars }
    }

    /// The colour of a part, beside its name.
    static func key(_ name: String) -> HTML {
        element("svg", Attribute("width", "12"), Attribute("height", "12"), .hidden) {
            element(
                "rect", .class(name), Attribute("width", "12"), Attribute("height", "12"), Attribute("rx", "2")
            ) {}
        }
    }
}

extension AgentsReport.Account {
    /// Dropped requests, whatever the reason.
    var droppedCount: UInt64 { dropped.values.reduce(0, &+) }

    /// The share of captured requests that arrived; `nil` if there are none.
    var arrivedShare: Double? { captured > 0 ? min(1, Double(delivered) / Double(captured)) : nil }
}
