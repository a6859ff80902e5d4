import MartletStorage
import MartletTelemetry

/// The figures that answer a request. Its JSON is a fixed format.
package struct Report: Sendable, Equatable, Codable {
    /// The window of the figures (``StatisticsAnswer/window``), RFC 3339, UTC.
    package var from: String
    package var to: String
    package var by: [Dimension]
    /// The time since which `per_second` counts, RFC 3339, UTC: that of the store's first data. `nil`, and left out, if the data begin
    /// before the window.
    package var ratesSince: String?
    /// The length of a slot of the rows' trends, in seconds; `nil`, and left out, if they have none.
    package var step: Double?
    /// The share of captured requests that arrived, times the share of time in which capture was on, 0...1; `nil` if no agent
    /// reported on this time.
    @NullIfUnknown package var completeness: Double?
    /// `nil`, and left out, if capture was on all the time.
    package var unwatched: UnwatchedTime?
    /// Senders of which points of cumulative counters were not counted; `nil`, and left out, if there is none.
    package var uncountedSenders: Int?
    /// `nil`, and left out, if the clock of no sender is ahead.
    package var clocksAhead: ClocksAhead?
    /// Points that are missing from the figures because the disk returned them damaged; `nil`, and left out, if none is.
    package var damagedPoints: Int?
    /// The number of rows, including those that `top` cut off.
    package var rowCount: Int
    package var rows: [ReportRow]
    /// The totals over all rows, including those that `top` cut off.
    package var totals: ReportRow
    /// The totals of clients and of servers apart: both may have counted one request. A kind without requests is missing.
    package var totalsByKind: [RequestKind: ReportRow]
    /// `nil`, and left out, if the rows are compared with nothing.
    package var compare: ReportComparison?

    private enum CodingKeys: String, CodingKey {
        case from, to, by, completeness, unwatched, rows, totals, compare
        case ratesSince = "rates_since"
        case step = "step_seconds"
        case uncountedSenders = "uncounted_senders"
        case clocksAhead = "clocks_ahead"
        case damagedPoints = "damaged_points"
        case rowCount = "row_count"
        case totalsByKind = "totals_by_kind"
    }
}

extension RequestKind: Codable, CodingKeyRepresentable {}
