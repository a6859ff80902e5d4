import MartletStorage
import MartletTelemetry

/// The requests that a report is compared with.
package enum ComparisonBase: Sendable, Equatable {
    /// The requests of the window of equal length right before.
    case previous
    /// The requests of the window that begins and ends this many nanoseconds earlier.
    case earlier(UInt64)
    /// The requests of one version of a service, compared with those of another in the same window.
    case versions(before: String, after: String)

    private static let day: UInt64 = 86_400_000_000_000

    /// The single words that the parameter `compare` accepts, for shell completion.
    package static let words = ["previous", "day", "week"]

    /// Reads the parameter `compare`.
    package init(_ text: String) throws(ParameterError) {
        let versions = text.hasPrefix("version:") ? text.dropFirst("version:".count).firstRange(of: "..") : nil
        if text == "previous" {
            self = .previous
        } else if text == "day" {
            self = .earlier(Self.day)
        } else if text == "week" {
            self = .earlier(7 * Self.day)
        } else if let length = TimeText.nanoseconds(text), length > 0 {
            self = .earlier(length)
        } else if let dots = versions, dots.upperBound < text.endIndex, text[..<dots.lowerBound] != "version:" {
            let name = text.index(text.startIndex, offsetBy: "version:".count)
            self = .versions(before: String(text[name..<dots.lowerBound]), after: String(text[dots.upperBound...]))
        } else {
            throw ParameterError("compare must be previous, day, week, a length of time such as 2h, or version:A..B")
        }
    }

    /// Returns the two versions that the parameter `compare` names; `nil` if it names none.
    package static func versions(in text: String?) -> (before: String, after: String)? {
        guard let text, case .versions(let before, let after)? = try? ComparisonBase(text) else { return nil }
        return (before, after)
    }

    /// The parameter `compare`.
    package var text: String {
        switch self {
        case .previous: "previous"
        case .earlier(Self.day): "day"
        case .earlier(7 * Self.day): "week"
        case .earlier(let length): TimeText.length(length)
        case .versions(let before, let after): "version:\(before)..\(after)"
        }
    }

    /// Returns the query of the report itself.
    package func query(after query: StatisticsQuery) -> StatisticsQuery {
        var query = query
        if case .versions(_, let after) = self { query.filter.select(.version, after) }
        return query
    }

    /// Returns the query of the earlier requests.
    ///
    /// - Parameters:
    ///   - query: the original query.
    ///   - window: the window that was answered, which may be wider than the query's. The earlier window is computed from it,
    ///     so that no request counts in both.
    package func query(before query: StatisticsQuery, answeredFor window: TimeWindow) -> StatisticsQuery {
        var query = query
        query.window = window
        switch self {
        case .previous: query.window = Self.moved(window, by: window.length)
        case .earlier(let length): query.window = Self.moved(window, by: length)
        case .versions(let before, _): query.filter.select(.version, before)
        }
        return query
    }

    private static func moved(_ window: TimeWindow, by length: UInt64) -> TimeWindow {
        let (from, to) = (window.from - min(window.from, length), window.to - min(window.to, length))
        return TimeWindow(from: from, to: min(to, window.from))
    }
}

extension Parameters<ReportParameter> {
    /// Returns `nil` if the report is not compared.
    ///
    /// - Parameter query: the report's query.
    package func comparison(of query: StatisticsQuery) throws(ParameterError) -> ComparisonBase? {
        guard let text = self[.compare] else { return nil }
        let base = try ComparisonBase(text)
        switch base {
        case .earlier(let length) where length < query.window.length:
            throw ParameterError(
                "compare must be at least as long as the window; with \(text), requests would be compared with themselves"
            )
        case .versions(let before, let after) where before == after:
            throw ParameterError(
                "compare must name two versions; with \(text), requests would be compared with themselves")
        case .versions where query.filter.wanted[.version] != nil:
            throw ParameterError("compare names the versions already; leave out the filter by version")
        case .versions where query.by.contains(.version):
            throw ParameterError("rows by version cannot be compared between versions; leave version out of by")
        default: return base
        }
    }
}
