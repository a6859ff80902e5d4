import MartletStorage

/// What was asked, and the answer. Its JSON is a fixed format.
package struct Report: Sendable, Equatable, Codable {
    /// RFC 3339, UTC: the time that the figures are of (``StatisticsAnswer/window``).
    package var from: String
    package var to: String
    package var by: [Dimension]
    /// The share of captured requests that arrived, 0...1, less the share of time in which capture was off; `nil` where no
    /// agent tells of this time.
    package var completeness: Double?
    /// Left out when capture was on all the time.
    package var unwatched: UnwatchedTime?
    /// Points that the disk gave back damaged and that are missing from the figures; left out when there are none.
    package var damagedPoints: Int?
    package var rows: [ReportRow]
    /// Over all rows, those that `top` cut off included.
    package var totals: ReportRow

    private enum CodingKeys: String, CodingKey {
        case from, to, by, completeness, unwatched, rows, totals
        case damagedPoints = "damaged_points"
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(from, forKey: .from)
        try container.encode(to, forKey: .to)
        try container.encode(by, forKey: .by)
        // Always there, as `null` where it is not known.
        try container.encode(completeness, forKey: .completeness)
        try container.encodeIfPresent(unwatched, forKey: .unwatched)
        try container.encodeIfPresent(damagedPoints, forKey: .damagedPoints)
        try container.encode(rows, forKey: .rows)
        try container.encode(totals, forKey: .totals)
    }
}

extension Dimension: Codable, CodingKey {}
