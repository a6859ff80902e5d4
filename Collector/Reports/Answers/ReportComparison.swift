/// The other side of a comparison, and its outcome over the rows that were compared (``ReportQuestion``).
package struct ReportComparison: Sendable, Equatable, Codable {
    /// The parameter `compare`, such as `previous`.
    package var base: String
    /// The window of the figures before, RFC 3339, UTC.
    package var from: String
    package var to: String
    /// See ``Report/completeness``.
    @NullIfUnknown package var completeness: Double?
    package var blocks: Blocks
    /// The number of rows with each verdict, including compared ones that `top` cut off.
    package var worse = 0
    package var better = 0
    package var same = 0
    package var tooLittleData = 0
    /// The number of rows, among those that would have been compared before, that had requests then and have none now.
    package var goneCount: Int
    /// These rows with their figures before, the greatest impact first; at most as many as `top`.
    package var gone: [ReportRow]

    /// The number of blocks that each window was cut into.
    package struct Blocks: Sendable, Equatable, Codable {
        package var before: Int
        package var after: Int
    }

    private enum CodingKeys: String, CodingKey {
        case base, from, to, completeness, blocks, worse, better, same, gone
        case tooLittleData = "too_little_data"
        case goneCount = "gone_count"
    }
}
