import MartletReports
import MartletSQLiteStorage
import MartletStorage

/// The answers to what the screen of `top` asks.
struct TopAnswers: Sendable {
    /// Rows at most, of which the screen filters some.
    private static let rows = 1000
    /// Requests of a row at most, which is more than a screen holds.
    private static let requests = 100

    let source: SourceOptions
    let selection: SelectionOptions
    let grouping: GroupingOptions

    /// The order that the flags ask for. Throws if a flag cannot be understood.
    var order: GroupOrder.Measure {
        get throws {
            var parameters = ReportParameters()
            selection.add(to: &parameters)
            grouping.add(to: &parameters)
            return try parameters.query(now: SQLiteStorage.systemClock()).order.measure
        }
    }

    func answer(to question: TopQuestion) async throws -> TopAnswer {
        switch question {
        case .report(let order): try await report(order)
        case .requests(let row, let onlyFailed): try await requests(of: row, onlyFailed: onlyFailed)
        }
    }

    private func report(_ order: GroupOrder.Measure) async throws -> TopAnswer {
        var parameters = ReportParameters()
        selection.add(to: &parameters)
        for dimension in grouping.by { parameters.add(.by, dimension) }
        parameters.add(.sort, order.rawValue)
        parameters.add(.top, String(Self.rows))
        parameters.add(.step, selection.trendStep)
        let report = try await source.report(parameters)
        var context = ReportContext()
        context.flags = parameters.flags.filter { $0.name != "top" } + source.flags
        if report.rows.isEmpty {
            try await source.explain(report, &context, selection.filters(), names: selection.given())
        }
        return .report(report, context)
    }

    private func requests(of row: [MartletStorage.Dimension: String?], onlyFailed: Bool) async throws -> TopAnswer {
        var parameters = RequestsParameters()
        selection.add(to: &parameters, without: Set(row.keys))
        for (dimension, value) in row {
            if let name = RequestsParameter(rawValue: dimension.rawValue) { parameters.add(name, value ?? "") }
        }
        parameters.add(.failed, onlyFailed ? "true" : nil)
        parameters.add(.limit, String(Self.requests))
        return .requests(try await source.requests(parameters))
    }
}
