import MartletStorage

/// The dimensions and the measures of one group, which JSON has side by side.
package struct ReportRow: Sendable, Equatable, Codable {
    /// A value for each dimension of the report; `null` if the requests have none. A status is a number in JSON.
    package var dimensions: [Dimension: String?]
    package var measures: RequestMeasures
    /// The latest time at which the requests are known to have occurred, RFC 3339, UTC, as fine as the figures; `nil`, and left
    /// out, if there are none.
    package var lastSeen: String?
    /// `nil`, and left out, if the report has no slots.
    package var trend: Trend?
    /// The share of captured requests of the row's service that arrived; `nil` if no agent reported on it, and left out if the report
    /// does not tell services apart.
    package var completeness: Double?
    /// The bounds that p99 has with the requests that did not arrive; `nil`, and left out, if none is known to be missing.
    package var p99Bounds: Bounds?
    /// `nil`, and left out, if the report is compared with nothing.
    package var verdict: Verdict?
    /// `nil`, and left out, if the verdict names no change, or the report has no slots.
    package var changed: ChangedTime?
    /// The figures in the other window; `nil`, and left out, if there were no requests.
    package var before: RequestMeasures?

    /// The requests in each slot of the window, in the order of time.
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
        /// `nil`, and left out, if there is none: so many requests are missing that the slowest one may be among them.
        package var to: Double?
    }

    private enum CodingKeys: String, CodingKey {
        case lastSeen = "last_seen"
        case p99Bounds = "p99_ms_bounds"
        case trend, completeness, verdict, changed, before
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
        try others.encodeIfPresent(before, forKey: .before)
        try DimensionValues.encode(dimensions, to: encoder)
    }
}
