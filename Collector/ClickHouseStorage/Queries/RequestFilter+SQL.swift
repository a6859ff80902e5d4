import MartletStorage

extension RequestFilter {
    /// The condition on a row of `sender`, or on any row with the columns of a sender.
    var senderCondition: String { condition(on: Dimension.allCases.filter(\.isOfSender)) }

    /// The condition on a row of `series`, apart from its senders.
    var requestCondition: String { condition(on: Dimension.allCases.filter { !$0.isOfSender }) }

    /// The condition on a row with the columns of a sender and of dimensions.
    var condition: String { condition(on: Dimension.allCases) }

    /// Whether the filter leaves out senders.
    var selectsSenders: Bool { wanted.keys.contains(where: \.isOfSender) }

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
    /// The expression of the value as a text; `''` for an absent one.
    var expression: String {
        switch self {
        case .service, .environment, .version, .instance, .kind, .method, .endpoint, .error, .rule: rawValue
        case .status: "if(status = 0, '', toString(status))"
        case .host:
            """
            if(port <= 0, host, if(position(host, ':') > 0, concat('[', concat(host, concat(']:', toString(port)))), \
            concat(host, concat(':', toString(port)))))
            """
        }
    }

    /// Returns the value that a text of ``expression`` stands for.
    func value(of text: String) -> String? {
        switch self {
        case .environment, .version, .status, .error, .rule: text.presence
        case .service, .instance, .kind, .method, .host, .endpoint: text
        }
    }
}
