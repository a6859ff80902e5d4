import MartletStorage
import MartletTelemetry

/// Everything that the screen of `top` shows, as a plain value.
package struct TopState: Sendable {
    package enum View: Sendable, Equatable {
        case report
        /// The requests of ``TopState/opened``.
        case requests
    }

    /// The most characters of a filter.
    private static let longestFilter = 64

    package private(set) var view = View.report
    /// Whether the help about the keys covers the view.
    package private(set) var showsHelp = false
    /// The figure that the rows are sorted by.
    package private(set) var order: GroupOrder.Measure
    /// Whether rows without failures are left out.
    package private(set) var onlyFailed = false
    /// A text that the endpoints of all shown rows contain; empty shows all.
    package private(set) var filter = ""
    /// Whether keys are typed into the filter.
    package private(set) var isTyping = false
    package private(set) var isPaused = false
    package private(set) var isEnded = false
    /// Why the latest question was not answered, in a sentence; `nil` if it was.
    package private(set) var trouble: String?
    /// `nil` until the first answer.
    package private(set) var report: Report?
    package private(set) var requests: RequestsReport?
    /// The index of the selected row among ``rows``.
    package private(set) var selected = 0
    /// The row whose requests are shown.
    private(set) var opened: ReportRow?
    /// The index of the first request on the screen.
    private(set) var firstRequest = 0
    private(set) var context = ReportContext()

    package init(order: GroupOrder.Measure) { self.order = order }

    /// The rows that are shown, in the order of the screen: clients before servers, as in a report.
    package var rows: [ReportRow] {
        let matching = (report?.rows ?? []).filter { row in
            (!onlyFailed || row.measures.failures.count > 0) && matches(row)
        }
        return RequestKind.allCases.flatMap { kind in matching.filter { $0.kind == kind } }
            + matching.filter { $0.kind == nil }
    }

    package var selectedRow: ReportRow? { rows.indices.contains(selected) ? rows[selected] : nil }

    /// The question that the view needs answered.
    package var question: TopQuestion {
        guard view == .requests, let opened else { return .report(order) }
        return .requests(of: opened.dimensions, onlyFailed: onlyFailed)
    }

    private func matches(_ row: ReportRow) -> Bool {
        guard !filter.isEmpty, let by = report?.by else { return true }
        let name = row.text(of: by.contains(.endpoint) ? .endpoint : by.last ?? .endpoint)
        return name.lowercased().contains(filter.lowercased())
    }

    // MARK: Answers

    /// Takes an answer. Ignores an answer to a question that the screen no longer asks.
    package mutating func take(_ answer: TopAnswer, to question: TopQuestion) {
        guard question == self.question else { return }
        trouble = nil
        switch answer {
        case .report(let report, let context):
            keepingSelection { ($0.report, $0.context) = (report, context) }
        case .requests(let report):
            requests = report
            scroll(to: firstRequest)
        }
    }

    /// Keeps the figures and says why there are no newer ones.
    package mutating func fail(_ sentence: String) { trouble = sentence }

    /// Changes the rows. The selected row stays selected, also at another position.
    private mutating func keepingSelection(_ change: (inout TopState) -> Void) {
        let name = selectedRow?.dimensions
        change(&self)
        let rows = rows
        selected = rows.firstIndex { $0.dimensions == name } ?? max(0, min(selected, rows.count - 1))
    }

    // MARK: Keys

    package mutating func press(_ key: TopKey) {
        switch (key, view) {
        case (.interrupt, _): isEnded = true
        case _ where showsHelp: showsHelp = false
        case (_, .report) where isTyping: type(key)
        case (_, .report): pressInReport(key)
        case (_, .requests): pressInRequests(key)
        }
    }

    private mutating func type(_ key: TopKey) {
        switch key {
        case .enter: isTyping = false
        case .escape:
            isTyping = false
            keepingSelection { $0.filter = "" }
        case .backspace: keepingSelection { $0.filter = String($0.filter.dropLast()) }
        case .character(let letter) where filter.count < Self.longestFilter:
            keepingSelection { $0.filter.append(letter) }
        default: return
        }
    }

    private mutating func pressInReport(_ key: TopKey) {
        switch key {
        case .up, .character("k"): selected = max(0, selected - 1)
        case .down, .character("j"): selected = max(0, min(selected + 1, rows.count - 1))
        case .character("s"): order = order.next
        case .character("f"): keepingSelection { $0.onlyFailed.toggle() }
        case .character("/"): isTyping = true
        case .character("q"): isEnded = true
        case .enter where selectedRow != nil:
            (view, opened, requests, firstRequest) = (.requests, selectedRow, nil, 0)
        default: pressAnywhere(key)
        }
    }

    private mutating func pressInRequests(_ key: TopKey) {
        switch key {
        case .up, .character("k"): scroll(to: firstRequest - 1)
        case .down, .character("j"): scroll(to: firstRequest + 1)
        case .escape, .character("q"): (view, trouble) = (.report, nil)
        case .character("f"): keepingSelection { $0.onlyFailed.toggle() }
        default: pressAnywhere(key)
        }
    }

    private mutating func scroll(to request: Int) {
        firstRequest = max(0, min(request, (requests?.requests.count ?? 0) - 1))
    }

    private mutating func pressAnywhere(_ key: TopKey) {
        switch key {
        case .character(" "): isPaused.toggle()
        case .character("?"): showsHelp = true
        default: return
        }
    }
}

extension GroupOrder.Measure {
    /// The next figure to sort by; the first one after the last.
    fileprivate var next: Self {
        let all = Self.allCases
        return all.firstIndex(of: self).map { all[($0 + 1) % all.count] } ?? self
    }
}

/// A question that the screen of `top` needs answered.
package enum TopQuestion: Sendable, Equatable {
    case report(GroupOrder.Measure)
    /// The kept requests of a row.
    case requests(of: [Dimension: String?], onlyFailed: Bool)
}

/// An answer to a ``TopQuestion``.
package enum TopAnswer: Sendable {
    /// A report, and the facts that explain it if it has no rows.
    case report(Report, ReportContext)
    case requests(RequestsReport)
}

/// A key that a person pressed.
package enum TopKey: Sendable, Equatable {
    case up
    case down
    case enter
    case escape
    case backspace
    /// Ctrl-C, which a terminal in raw mode sends as a byte.
    case interrupt
    case character(Character)

    private static let escapeByte: UInt8 = 0x1b

    /// Returns the keys in bytes that a terminal sent at once. Unknown keys are left out.
    package static func keys(in bytes: [UInt8]) -> [TopKey] {
        var (keys, rest) = ([TopKey](), bytes[...])
        while let first = rest.first {
            if first == escapeByte {
                if let key = escaped(&rest) { keys.append(key) }
            } else if first < 0x20 || first == 0x7f {
                rest.removeFirst()
                if let key = control(first) { keys.append(key) }
            } else {
                let text = rest.prefix { $0 >= 0x20 && $0 != 0x7f }
                rest = rest[text.endIndex...]
                keys += String(decoding: text, as: UTF8.self).map { .character($0) }
            }
        }
        return keys
    }

    private static func control(_ byte: UInt8) -> TopKey? {
        switch byte {
        case 0x03: .interrupt
        case 0x08, 0x7f: .backspace
        case UInt8(ascii: "\r"), UInt8(ascii: "\n"): .enter
        default: nil
        }
    }

    /// Takes a sequence that begins with an escape: `ESC [ … final` or `ESC O final` (ECMA-48, control sequences).
    private static func escaped(_ bytes: inout ArraySlice<UInt8>) -> TopKey? {
        bytes.removeFirst()
        guard let second = bytes.first, second == UInt8(ascii: "[") || second == UInt8(ascii: "O") else {
            return .escape
        }
        bytes.removeFirst()
        let parameters = bytes.prefix { (0x20..<0x40).contains($0) }
        bytes = bytes[parameters.endIndex...]
        switch bytes.popFirst() {
        case UInt8(ascii: "A"): return .up
        case UInt8(ascii: "B"): return .down
        default: return nil
        }
    }
}
