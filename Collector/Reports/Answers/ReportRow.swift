import MartletStorage

/// The dimensions and the measures of one group, as keys of one JSON object.
package struct ReportRow: Sendable, Equatable, Codable {
    /// A value for each dimension of the report; `null` if the requests have none. A status is a number in JSON.
    package var dimensions: [Dimension: String?]
    package var measures: RequestMeasures
    /// The latest time at which a request is known to have occurred, RFC 3339, UTC, as precise as the figures; `nil`, and left
    /// out, if there are no requests.
    package var lastSeen: String?
    /// `nil`, and left out, if the report has no slots.
    package var trend: Trend?
    /// The share of the captured requests of the row's service that arrived. `nil` if no agent of the service reported; left
    /// out if the report does not separate services.
    package var completeness: Double?
    /// The bounds within which p99 lies, given the missing requests; `nil`, and left out, if no request is known to be missing.
    package var p99Bounds: Bounds?
    /// `nil`, and left out, if the report is not compared.
    package var verdict: Verdict?
    /// `nil`, and left out, if the verdict names no change, or the report has no slots.
    package var changed: ChangedTime?
    /// The values that carry a change for the worse; `nil`, and left out, if they were not searched.
    package var who: ChangeCarriers?
    /// The figures in the other window; `nil`, and left out, if it had no requests.
    package var before: RequestMeasures?

    /// The requests in each slot of the window, in order of time.
    package struct Trend: Sendable, Equatable, Codable {
        package var count: [UInt64]
        package var failed: [UInt64]
        /// Milliseconds; `nil` for a slot without requests.
        package var p95: [Double?]

        private enum CodingKeys: String, CodingKey {
            case count, failed
            case p95 = "p95_ms"
        }

        package init(count: [UInt64], failed: [UInt64], p95: [Double?] = []) {
            self.count = count
            self.failed = failed
            self.p95 = p95
        }
    }

    /// Milliseconds.
    package struct Bounds: Sendable, Equatable, Codable {
        package var from: Double
        /// `nil`, and left out, if there is no upper bound: so many requests are missing that the slowest one may be among them.
        package var to: Double?
    }

    private enum CodingKeys: String, CodingKey {
        case lastSeen = "last_seen"
        case p99Bounds = "p99_ms_bounds"
        case trend, completeness, verdict, changed, who, before
    }

    package init(
        dimensions: [Dimension: String?], measures: RequestMeasures, lastSeen: String? = nil, trend: Trend? = nil
    ) {
        self.dimensions = dimensions
        self.measures = measures
        self.lastSeen = lastSeen
        self.trend = trend
    }

    package init(from decoder: any Decoder) throws {
        measures = try RequestMeasures(from: decoder)
        let others = try decoder.container(keyedBy: CodingKeys.self)
        lastSeen = try others.decodeIfPresent(String.self, forKey: .lastSeen)
        trend = try others.decodeIfPresent(Trend.self, forKey: .trend)
        completeness = try others.decodeIfPresent(Double.self, forKey: .completeness)
        p99Bounds = try others.decodeIfPresent(Bounds.self, forKey: .p99Bounds)
        verdict = try others.decodeIfPresent(Verdict.self, forKey: .verdict)
        changed = try others.decodeIfPresent(ChangedTime.self, forKey: .changed)
        who = try others.decodeIfPresent(ChangeCarriers.self, forKey: .who)
        before = try others.decodeIfPresent(RequestMeasures.self, forKey: .before)
        dimensions = try DimensionValues.decode(from: decoder)
    }

    package func encode(to encoder: any Encoder) throws {
        try measures.encode(to: encoder)
        var others = encoder.container(keyedBy: CodingKeys.self)
        try others.encodeIfPresent(lastSeen, forKey: .lastSeen)
        try others.encodeIfPresent(trend, forKey: .trend)
        if dimensions[.service] != nil { try others.encode(completeness, forKey: .completeness) }
        try others.encodeIfPresent(p99Bounds, forKey: .p99Bounds)
        try others.encodeIfPresent(verdict, forKey: .verdict)
        try others.encodeIfPresent(changed, forKey: .changed)
        try others.encodeIfPresent(who, forKey: .who)
        try others.encodeIfPresent(before, forKey: .before)
        try DimensionValues.encode(dimensions, to: encoder)
    }
}

extension ReportRow.Bounds {
    /// Returns `nil` if all requests arrived.
    ///
    /// If n requests arrived and m are missing, all of the missing ones may be faster than the others, or slower.
    ///
    /// - Parameters:
    ///   - share: the share of a quantile, 0...1.
    ///   - completeness: n / (n + m).
    init?(of share: Double, _ group: RequestGroup, completeness: Double) {
        guard completeness < 1, completeness > 0 else { return nil }
        let (lowest, highest) = (max(0, (share - (1 - completeness)) / completeness), share / completeness)
        let bounds = group.quantiles([lowest, min(highest, 1)])
        guard let from = bounds[0], let to = bounds[1] else { return nil }
        self.init(
            from: Milliseconds.of(from), to: highest < 1 ? Milliseconds.of(to) : nil)
    }
}

/// The names of rows in sentences: method and endpoint, and further dimensions if rows have these in common.
struct RowName {
    /// The most rows that a sentence names.
    private static let maxListed = 5

    private let by: [Dimension]
    private let short: [Dimension]
    private let namesakes: [String: [ReportRow]]

    /// - Parameter rows: all rows that the names have to distinguish.
    init(of rows: [ReportRow], by: [Dimension]) {
        let named = by.filter { [.method, .endpoint].contains($0) }
        let short = named.isEmpty ? by.suffix(1) : named
        (self.by, self.short) = (by, short)
        namesakes = Dictionary(grouping: rows) { Self.text($0, short) }
    }

    /// Returns a row's name, without escaping its characters.
    func of(_ row: ReportRow) -> String {
        let text = Self.text(row, dimensions(of: row))
        return text.isEmpty ? by.map { "no \($0.rawValue)" }.joined(separator: ", ") : text
    }

    /// Returns the names of the first rows and the number of the others, such as `GET /a, GET /b and 7 more`; `nil` if there are none.
    func list(of rows: some Collection<ReportRow>) -> String? {
        rows.isEmpty ? nil : NameList.text(rows.map { TerminalText.plain(of($0)) }, atMost: Self.maxListed)
    }

    /// Returns the dimensions that distinguish a row from all others.
    func dimensions(of row: ReportRow) -> [Dimension] {
        let others = namesakes[Self.text(row, short)] ?? []
        return by.filter { dimension in
            short.contains(dimension) || others.contains { $0.dimensions[dimension] != row.dimensions[dimension] }
        }
    }

    private static func text(_ row: ReportRow, _ dimensions: [Dimension]) -> String {
        let texts = dimensions.map { dimension in
            dimension == .endpoint && dimensions.contains(.method)
                ? EndpointName.text(row.text(of: .endpoint), after: row.text(of: .method)) : row.text(of: dimension)
        }
        return texts.filter { !$0.isEmpty }.joined(separator: " ")
    }
}

extension [Dimension] {
    /// The word for a row of a report by these dimensions: the only dimension, or else `endpoint` or `row`.
    var wordForRow: String {
        if count == 1 { return self[0].rawValue }
        return contains(.endpoint) && allSatisfy { $0 == .system || ReportParameter.defaultBy.contains($0) }
            ? Dimension.endpoint.rawValue : "row"
    }

    /// Returns a number of rows: `1 endpoint`, `7 endpoints`.
    func rows(_ count: Int) -> String {
        let plural = Dimension(rawValue: wordForRow)?.plural ?? wordForRow + "s"
        return "\(FigureText.grouped(UInt64(count))) \(count == 1 ? wordForRow : plural)"
    }
}

/// The values of a row's dimensions, next to the row's other keys in JSON. A status is a number, and a missing value is `null`.
enum DimensionValues {
    static func decode(from decoder: any Decoder) throws -> [Dimension: String?] {
        let container = try decoder.container(keyedBy: Dimension.self)
        var values: [Dimension: String?] = [:]
        for key in container.allKeys {
            let value =
                key == .status
                ? try container.decodeIfPresent(Int.self, forKey: key).map(String.init)
                : try container.decodeIfPresent(String.self, forKey: key)
            values.updateValue(value, forKey: key)
        }
        return values
    }

    static func encode(_ values: [Dimension: String?], to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Dimension.self)
        for (key, value) in values {
            if key == .status {
                try container.encode(value.flatMap { Int($0) }, forKey: key)
            } else {
                try container.encode(value, forKey: key)
            }
        }
    }
}

extension Dimension: Codable, CodingKey {}

extension [ReportRow] {
    /// The rows that became worse, then those that became better, each with larger changes before smaller ones.
    var changed: [ReportRow] {
        let sizes: [ChangeSize?] = map { $0.verdict?.change }
        let places = indices.filter { sizes[$0] != nil }.sorted { (one: Int, other: Int) -> Bool in
            guard let first = sizes[one], let second = sizes[other], first != second else { return one < other }
            return second < first
        }
        return places.map { self[$0] }
    }
}
