import MartletStorage
import MartletTelemetry

/// Two days of a row in slots of three minutes, the length of the summaries that a store keeps.
package struct RowPast: Sendable, Equatable {
    /// The durations above which requests are slow, in seconds: p50, p95 and p99 of the past, each rounded up to a bound of buckets,
    /// so that coarse and fine distributions are counted alike. Empty if there were no requests.
    package let bounds: [Double]
    package let history: RowHistory

    /// The past of a row that had no requests.
    static let none = RowPast(bounds: [], slots: [])

    static let slotMinutes = SummarySlot.length / Tier.minute.length
    private static let hour: UInt64 = 3_600_000_000_000

    /// Returns the end of the past of a window: a full hour.
    static func end(before start: UnixNanoseconds) -> UnixNanoseconds { start / hour * hour }

    /// - Parameter slots: the requests above each bound in each slot, and before them all requests and the failed ones. The last
    ///   slot ends at `end`.
    init(bounds: [Double], slots: [[Double]], end: UnixNanoseconds = 0) {
        let number = Int(end / UInt64(SummarySlot.length)) - slots.count
        self.bounds = bounds
        history = RowHistory(slotMinutes: Int(Self.slotMinutes), first: number, slots: slots)
    }
}
