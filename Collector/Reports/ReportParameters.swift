import MartletStorage
import MartletTelemetry

/// A flag that cannot be understood, in a sentence for the person who gave it.
package struct ParameterError: Error, Equatable, CustomStringConvertible {
    package var description: String

    package init(_ description: String) {
        self.description = description
    }
}

/// The flags of a report by name, as a command line or a query gives them: one table for both.
package struct ReportParameters: Sendable {
    package enum Name: String, Sendable, CaseIterable {
        case since, until, service, kind, host, endpoint, status, error, by, sort, ascending, top
    }

    /// In the order in which they were given; only `by` may come more than once.
    package private(set) var values: [(name: Name, value: String)] = []

    /// Parameters at most; a report with every filter and every dimension has fewer.
    private static let maxCount = 64
    /// Of a parameter's value.
    private static let maxValueBytes = 1024

    /// Twice as long as hours are kept by default. What a report costs grows with what its window has.
    private static let longestDays: UInt64 = 800

    package static let defaultSince = "1h"
    package static let defaultBy: [Dimension] = [.service, .kind, .method, .host, .endpoint]

    package init() {}

    package init(_ pairs: some Sequence<(String, String)>) throws(ParameterError) {
        for (name, value) in pairs {
            guard values.count < Self.maxCount else { throw ParameterError("there are too many parameters") }
            guard value.utf8.count <= Self.maxValueBytes else {
                throw ParameterError("a parameter has more than \(Self.maxValueBytes) bytes")
            }
            guard let name = Name(rawValue: name) else {
                throw ParameterError(
                    "there is no parameter of this name; there are \(Self.list(Name.allCases.map(\.rawValue)))")
            }
            guard name == .by || self[name] == nil else { throw ParameterError("\(name) is given more than once") }
            values.append((name, value))
        }
    }

    package mutating func add(_ name: Name, _ value: String?) {
        if let value { values.append((name, value)) }
    }

    package func request(now: UnixNanoseconds) throws(ParameterError) -> ReportRequest {
        let query = StatisticsQuery(window: try window(now: now), filter: try filter(), by: try dimensions())
        return ReportRequest(query: query, sort: try sort(), ascending: try ascending(), top: try top())
    }

    private subscript(_ name: Name) -> String? {
        values.first { $0.name == name }?.value
    }

    private func window(now: UnixNanoseconds) throws(ParameterError) -> TimeWindow {
        let from = try time(.since, default: Self.defaultSince, now: now)
        let to = try time(.until, default: "0s", now: now)
        guard from < to else { throw ParameterError("since is not before until") }
        guard to - from <= Self.longestDays * 86_400_000_000_000 else {
            throw ParameterError("between since and until are more than \(Self.longestDays) days")
        }
        return TimeWindow(from: from, to: to)
    }

    private func time(
        _ name: Name, default text: String, now: UnixNanoseconds
    ) throws(ParameterError) -> UnixNanoseconds {
        guard let time = TimeText.parse(self[name] ?? text, now: now) else {
            throw ParameterError(
                "\(name) is no time: write 2026-11-21T09:00:00Z, or a length of time ago such as 90s or 1h")
        }
        return time
    }

    private func filter() throws(ParameterError) -> RequestFilter {
        var filter = RequestFilter(
            service: self[.service], kind: try choice(.kind), host: self[.host], endpoint: self[.endpoint],
            error: self[.error])
        if let text = self[.status] {
            guard let status = StatusFilter(text) else { throw ParameterError("status is neither 404 nor 5xx in form") }
            filter.status = status
        }
        return filter
    }

    /// Repeated, or separated by commas.
    private func dimensions() throws(ParameterError) -> [Dimension] {
        var dimensions: [Dimension] = []
        for (name, value) in values where name == .by {
            for part in value.split(separator: ",") {
                guard let dimension = Dimension(rawValue: String(part)) else {
                    throw ParameterError("by is one of \(Self.list(Dimension.allCases.map(\.rawValue)))")
                }
                if !dimensions.contains(dimension) { dimensions.append(dimension) }
            }
        }
        return dimensions.isEmpty ? Self.defaultBy : dimensions
    }

    private func sort() throws(ParameterError) -> ReportSort {
        try choice(.sort) ?? .impact
    }

    private func ascending() throws(ParameterError) -> Bool {
        switch self[.ascending] {
        case nil, "false"?: false
        case "true"?, ""?: true
        default: throw ParameterError("ascending is true or false")
        }
    }

    private func top() throws(ParameterError) -> Int? {
        guard let text = self[.top] else { return nil }
        guard let top = Int(text), top > 0 else { throw ParameterError("top is a number of rows, 1 or more") }
        return top
    }

    private func choice<Choice: RawRepresentable<String> & CaseIterable>(
        _ name: Name
    ) throws(ParameterError) -> Choice? {
        guard let text = self[name] else { return nil }
        guard let choice = Choice(rawValue: text) else {
            throw ParameterError("\(name) is one of \(Self.list(Choice.allCases.map(\.rawValue)))")
        }
        return choice
    }

    private static func list(_ names: [String]) -> String {
        names.joined(separator: ", ")
    }
}
