import MartletPoints
import MartletTelemetry

/// The latest reports of a sender's processes, which are told apart by the start that they count from. They decide which
/// interval the first point of a stream covers. Pure.
package struct CumulativeHistory: Sendable, Equatable {
    /// In ascending order.
    private let ends: [UnixNanoseconds: [UnixNanoseconds]]
    private let forgottenUntil: UnixNanoseconds

    /// - Parameters:
    ///   - ends: the ends of each stream's last two reports, by the process's start. The last report is not enough, because a
    ///     process may send one collection in several requests.
    ///   - forgottenUntil: the latest end among processes of the sender that the store has forgotten; 0 if it forgot none.
    package init(ends: [UnixNanoseconds: [UnixNanoseconds]] = [:], forgottenUntil: UnixNanoseconds = 0) {
        self.ends = ends.mapValues { $0.sorted() }
        self.forgottenUntil = forgottenUntil
    }

    /// Returns the start of the interval that a stream's first point covers, or `nil` if its requests may be so old that they
    /// must not count as new.
    ///
    /// - Parameter length: the longest interval that is accepted from an unknown process, in nanoseconds.
    package func startOfFirstInterval(of point: RequestPoint, atMost length: UnixNanoseconds) -> UnixNanoseconds? {
        // A sender that does not know the start of its count begins with a point of no length (specification, "Metrics Data
        // Model", section "Cumulative streams: handling unknown start time").
        guard point.start < point.end else { return nil }
        // An earlier report of the same process lacks this stream, so the stream had counted nothing by then.
        if let last = ends[point.start]?.last(where: { $0 < point.end }) { return max(last, point.start) }
        // The process began after every report of this sender.
        let last = max(ends.values.compactMap(\.last).max() ?? 0, forgottenUntil)
        if last > 0, last <= point.start { return point.start }
        // A process that began earlier may have been counted and forgotten.
        guard point.start >= forgottenUntil else { return nil }
        return point.start > 0 && point.end - point.start <= length ? point.start : nil
    }
}
