import GRDB
import MartletStorage
import MartletTelemetry

extension RequestFilter {
    /// The condition on rows of `resource` that selects the filter's senders.
    var senderCondition: SQL { condition(on: Dimension.ofSender) }

    /// The condition on the request in a row of `detail`, without its sender.
    var requestCondition: SQL { condition(on: Dimension.ofRequest) }

    private func condition(on dimensions: [Dimension]) -> SQL {
        let conditions = dimensions.compactMap { dimension in
            wanted[dimension].map { Self.condition(dimension, $0.sorted()) }
        }
        return "\(conditions.joined(operator: .and))"
    }

    private static func condition(_ dimension: Dimension, _ values: [String]) -> SQL {
        switch dimension {
        case .kind: "kind IN \(values.flatMap(SeriesRows.kinds(named:)))"
        case .host: "(host IN \(values) OR \(authority) IN \(values))"
        case .status: "\(values.map(condition(onStatus:)).joined(operator: .or))"
        default: "\(sql: dimension.column) IN \(values)"
        }
    }

    /// ``RequestDimensions/authority``
    static let authority: SQL = """
        CASE WHEN port = 0 THEN host WHEN instr(host, ':') THEN '[' || host || ']:' || port ELSE host || ':' || port END
        """

    private static func condition(onStatus text: String) -> SQL {
        switch StatusPattern(text) {
        case .none?: "status = 0"
        case .code(let code)?: "status = \(code)"
        case .group(let digit)?: "status / 100 = \(digit)"
        case nil: "FALSE"
        }
    }
}

/// The SQL of the query.
extension RequestsQuery {
    /// The condition on the rows of all pages.
    var condition: SQL {
        var parts: [SQL] = [
            "kind != ''", "start_time > \(Int64(clamping: window.from))",
            "start_time <= \(Int64(clamping: window.to))", filter.requestCondition,
        ]
        if filter.selectsSenders {
            parts.append("resource_id IN (SELECT id FROM resource WHERE \(filter.senderCondition))")
        }
        if onlyFailed { parts.append("failed") }
        if let duration = slowerThan { parts.append("duration > \(Int64(clamping: duration))") }
        if let duration = fasterThan { parts.append("duration < \(Int64(clamping: duration))") }
        if let text { parts.append(Self.condition(text)) }
        return "\(parts.joined(operator: .and))"
    }

    /// Returns the statement that reads a page and one row after it.
    func page(in db: Database) throws -> SQL {
        let key: SQL = order.key == .time ? "start_time" : "duration"
        let direction: SQL = order.ascending ? "ASC" : "DESC"
        return """
            SELECT * FROM detail WHERE \(condition) AND \(try isAfterPageBefore(key, in: db))
            ORDER BY \(key) \(direction), id \(direction) LIMIT \(limit + 1)
            """
    }

    /// The condition that a row comes after the last row of the previous page.
    ///
    /// - Parameter key: the column of the order.
    private func isAfterPageBefore(_ key: SQL, in db: Database) throws -> SQL {
        guard let id = before else { return "TRUE" }
        let last = try DetailID(id).flatMap {
            try SQLRequest<Int64>(literal: "SELECT \(key) FROM detail WHERE id = \($0.row)").fetchOne(db)
        }
        guard let last, let row = DetailID(id)?.row else { throw UnknownRequest(id: id) }
        return order.ascending ? "(\(key), id) > (\(last), \(row))" : "(\(key), id) < (\(last), \(row))"
    }

    /// The condition that a kept field contains a text.
    private static func condition(_ text: String) -> SQL {
        // Events and attributes, which include headers and bodies, are stored as JSON.
        let (plain, inJSON) = (pattern(text), pattern(SpanJSON.inQuotes(text)))
        let ofPlain = contains(
            plain,
            in: [
                "url", "method || ' ' || endpoint", "(\(RequestFilter.authority))", "system", "error", "message",
                "lower(hex(trace_id))",
            ])
        let ofJSON = contains(inJSON, in: ["attributes", "events"])
        let ofSender = contains(plain, in: Dimension.ofSender.map { SQL(sql: $0.column) })
        return "\(ofPlain) OR \(ofJSON) OR resource_id IN (SELECT id FROM resource WHERE \(ofSender))"
    }

    /// The condition that one of the columns contains a text.
    private static func contains(_ pattern: String, in columns: [SQL]) -> SQL {
        "\(columns.map { "\($0) LIKE \(pattern) ESCAPE '\\'" as SQL }.joined(operator: .or))"
    }

    private static func pattern(_ text: String) -> String {
        var escaped = ""
        for character in text.unicodeScalars {
            if "%_\\".unicodeScalars.contains(character) { escaped.unicodeScalars.append("\\") }
            escaped.unicodeScalars.append(character)
        }
        return "%\(escaped)%"
    }
}
