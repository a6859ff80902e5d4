import GRDB
import MartletStorage
import MartletTelemetry

extension RequestFilter {
    /// The condition on a row of `resource` whose sender the filter selects.
    var senderCondition: SQL { condition(on: Dimension.allCases.filter(\.isOfSender)) }

    /// The condition on the request of a row of `detail`, apart from its sender.
    var requestCondition: SQL { condition(on: Dimension.allCases.filter { !$0.isOfSender }) }

    /// Whether the filter leaves out senders.
    var selectsSenders: Bool { wanted.keys.contains(where: \.isOfSender) }

    /// Whether the filter leaves out requests of a sender.
    var selectsRequests: Bool { wanted.keys.contains { !$0.isOfSender } }

    private func condition(on dimensions: [Dimension]) -> SQL {
        let conditions = dimensions.compactMap { dimension in
            wanted[dimension].map { Self.condition(dimension, $0.sorted()) }
        }
        return "\(conditions.joined(operator: .and))"
    }

    private static func condition(_ dimension: Dimension, _ values: [String]) -> SQL {
        switch dimension {
        case .service: "service IN \(values)"
        case .environment: "environment IN \(values)"
        case .version: "version IN \(values)"
        case .instance: "instance IN \(values)"
        case .method: "method IN \(values)"
        case .endpoint: "endpoint IN \(values)"
        case .error: "error IN \(values)"
        case .rule: "rule IN \(values)"
        case .kind: "kind IN \(values.flatMap(SeriesRows.kinds(named:)))"
        case .host: "(host IN \(values) OR \(authority) IN \(values))"
        case .status: "\(values.map(condition(onStatus:)).joined(operator: .or))"
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
