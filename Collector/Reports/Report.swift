import MartletStorage

/// What was asked, and the answer. Its JSON is a fixed format.
package struct Report: Sendable, Equatable, Codable {
    /// RFC 3339, UTC: the time that the figures are of (``StatisticsAnswer/window``).
    package var from: String
    package var to: String
    package var by: [Dimension]
    /// The share of captured requests that arrived, 0...1.
    package var completeness: Double
    /// Points that the disk gave back damaged and that are missing from the figures; left out when there are none.
    package var damagedPoints: Int?
    package var rows: [ReportRow]
    /// Over all rows, those that `top` cut off included.
    package var totals: ReportRow

    private enum CodingKeys: String, CodingKey {
        case from, to, by, completeness, rows, totals
        case damagedPoints = "damaged_points"
    }
}

extension Dimension: Codable, CodingKey {}
