import MartletPoints
import Synchronization

/// The columns that all points of a series have. They are made once and remembered: the same series have a point in each batch.
struct PointSeries {
    /// See ``RowIdentity/series(_:)``.
    let id: UInt64
    /// The columns from `kind` to `outcome`.
    let columns: [UInt8]

    private init(_ series: SharedDimensions) {
        let dimensions = series.value
        id = RowIdentity.series(dimensions)
        var row = TableRows(Schema.point)
        row.add(dimensions)
        row.number(OutcomeCode.of(dimensions.outcome))
        columns = row.bytes
    }

    private static let known = Mutex<[SharedDimensions: PointSeries]>([:])
    private static let maxKnown = 100_000

    static func of(_ series: SharedDimensions) -> PointSeries {
        if let known = known.withLock({ $0[series] }) { return known }
        let made = PointSeries(series)
        known.withLock { known in
            if known.count >= maxKnown { known = [:] }
            known[series] = made
        }
        return made
    }
}
