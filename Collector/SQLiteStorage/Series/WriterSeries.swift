import Synchronization

/// The index of a store's writer. Its lock is always free, because only one transaction is being written at a time.
final class WriterSeries: Sendable {
    private let index: Mutex<SeriesIndex>

    init(maxSeriesOfService: Int) {
        index = Mutex(SeriesIndex(maxSeriesOfService: maxSeriesOfService))
    }

    func withLock<Value: Sendable>(_ body: (inout SeriesIndex) throws -> Value) rethrows -> Value {
        try index.withLock { index in try body(&index) }
    }
}
