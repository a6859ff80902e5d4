import MartletStorage

extension RequestFilter {
    /// The condition on a row of `sender`, or on any row with the columns of a sender.
    var senderCondition: String { condition(on: Dimension.ofSender) }

    /// The condition on a row of `series`, which has no columns of a sender.
    var requestCondition: String { condition(on: Dimension.ofRequest) }

    /// The condition on a row with the columns of a sender and of dimensions.
    var condition: String { condition(on: Dimension.allCases) }

    /// The condition on a row with the number of a sender.
    var conditionOnSender: String {
        selectsSenders ? "sender IN (SELECT id FROM sender WHERE \(senderCondition))" : "1"
    }

    /// The source of the selected senders that may have data after a time, with a row for each collector's process that saw one. Only
    /// the parts of `sender` after that time are searched for them, because a store has millions of senders that are gone.
    ///
    /// - Parameter time: nanoseconds since 1970, by the senders' clocks.
    func senders(after time: Int64) -> String {
        senders(seenAfter: max(0, time - Self.longestLead))
    }

    /// The same for senders that were seen after a time, by the collector's clock.
    func senders(seenAfter time: Int64) -> String {
        guard time > 0 else { return "FROM sender FINAL WHERE \(senderCondition)" }
        // FINAL would read the whole table.
        return """
            FROM (SELECT * FROM sender WHERE \(senderCondition) \
            AND id IN (SELECT id FROM sender WHERE last_seen > \(time) AND \(senderCondition)) \
            ORDER BY revision DESC LIMIT 1 BY id, writer)
            """
    }

    /// A sender's clock is ahead by less, in nanoseconds: intake refuses points of later times.
    private static let longestLead = StoredDay.length

    private func condition(on dimensions: [Dimension]) -> String {
        let conditions = dimensions.compactMap { dimension in
            wanted[dimension].map { Self.condition(dimension, $0.sorted()) }
        }
        return conditions.isEmpty ? "1" : conditions.joined(separator: " AND ")
    }

    private static func condition(_ dimension: Dimension, _ values: [String]) -> String {
        switch dimension {
        case .host: "(host IN \(SQLText.list(values)) OR \(dimension.expression) IN \(SQLText.list(values)))"
        case .status: "(\(values.map(condition(onStatus:)).joined(separator: " OR ")))"
        default: "\(dimension.expression) IN \(SQLText.list(values))"
        }
    }

    private static func condition(onStatus text: String) -> String {
        switch StatusPattern(text) {
        case .none?: "status = 0"
        case .code(let code)?: "status = \(code)"
        case .group(let digit)?: "intDiv(status, 100) = \(digit)"
        case nil: "0"
        }
    }
}

extension Dimension {
    /// The expression for the value as a text; `''` if it is absent.
    var expression: String {
        switch self {
        case .status: "if(status = 0, '', toString(status))"
        case .host:
            """
            if(port <= 0, host, if(position(host, ':') > 0, concat('[', concat(host, concat(']:', toString(port)))), \
            concat(host, concat(':', toString(port)))))
            """
        default: column
        }
    }

    /// Returns the value that a text of ``expression`` represents.
    func value(of text: String) -> String? { mayBeAbsent ? text.presence : text }
}

extension RequestsQuery {
    /// The condition on the rows of all pages.
    var condition: String {
        var parts = [
            "kind != ''", "start_ns > \(Int64(clamping: window.from))", "start_ns <= \(Int64(clamping: window.to))",
            window.days, filter.condition,
        ]
        if onlyFailed { parts.append("failed") }
        if let duration = slowerThan { parts.append("duration > \(Int64(clamping: duration))") }
        if let duration = fasterThan { parts.append("duration < \(Int64(clamping: duration))") }
        if let text { parts.append(Self.condition(text)) }
        return parts.joined(separator: " AND ")
    }

    /// Returns the condition that a kept field contains a text, in any case of ASCII letters.
    private static func condition(_ text: String) -> String {
        // Events and attributes, which include headers and bodies, are stored as JSON.
        let trace = "lower(concat(hex(trace_high), hex(trace_low)))"
        let plain =
            [
                "url", "concat(method, concat(' ', endpoint))", Dimension.host.expression, "system", "error", "message",
                trace,
            ] + Dimension.ofSender.map(\.expression)
        let json = ["attributes", "events"].map { ($0, SpanJSON.inQuotes(text)) }
        let conditions = (plain.map { ($0, text) } + json).map { column, text in
            text.isEmpty ? "1" : "positionCaseInsensitive(\(column), \(SQLText.quoted(text))) > 0"
        }
        return "(\(conditions.joined(separator: " OR ")))"
    }
}

extension TimeWindow {
    /// The condition that a row's day is in the window.
    var days: String {
        "day BETWEEN \(UInt32(dayOf: Int64(clamping: from))) AND \(UInt32(dayOf: Int64(clamping: to)))"
    }
}

extension SlotGrid {
    /// Returns the expression for the index of the slot in which an interval ends.
    ///
    /// - Parameter end: an expression for a time in the window, of type Int64.
    func slot(of end: String) -> String {
        """
        toUInt64(intDiv(toUInt64(toUInt64(greatest(\(end), toInt64(\(window.from + 1)))) - 1 + toUInt64(\(shift))), \
        toUInt64(\(step))) - toUInt64(\(first)))
        """
    }
}

/// Writes texts as SQL literals.
enum SQLText {
    /// Returns the text in quotes.
    static func quoted(_ text: String) -> String {
        var result = "'"
        for scalar in text.unicodeScalars {
            switch scalar {
            case "'", "\\": result += "\\\(Character(scalar))"
            case "\0": result += "\\0"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "'"
    }

    /// Returns a value of type FixedString.
    static func bytes(_ bytes: [UInt8]) -> String { "unhex('\(bytes.hexDigits)')" }

    /// Returns a list in parentheses for IN. If there are no texts, the list has a text that no row has, because ClickHouse
    /// refuses `()`.
    static func list(_ texts: some Collection<String>) -> String {
        texts.isEmpty ? "('\\0none')" : "(\(texts.map(quoted).joined(separator: ", ")))"
    }

    static func list(_ numbers: some Collection<UInt64>) -> String {
        numbers.isEmpty ? "(NULL)" : "(\(numbers.map(String.init).joined(separator: ", ")))"
    }
}

extension [UInt8] {
    /// Two digits for each byte.
    var hexDigits: String { map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() }
}
