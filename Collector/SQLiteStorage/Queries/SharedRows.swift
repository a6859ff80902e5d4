import GRDB
import MartletTelemetry

/// The sender and the series of a service that were read last. The queries of a pass ask for the same ones in turn, so each is read
/// once for all of them, and no more are held. Not thread-safe: it lives as long as its transaction.
final class SharedRows {
    private let memory: SeriesMemory
    private var sender: (id: Int64, resource: TelemetryResource?)?
    private var series: (service: String, known: KnownSeries)?

    init(_ memory: SeriesMemory) {
        self.memory = memory
    }

    /// Returns `nil` for a sender that has been deleted.
    func resource(_ id: Int64, in db: Database) throws -> TelemetryResource? {
        if let sender, sender.id == id { return sender.resource }
        let found = try ResourceRows.find(id, in: db)
        sender = (id, found)
        return found
    }

    func series(of service: String, in db: Database) throws -> KnownSeries {
        if let series, series.service == service { return series.known }
        let read = try memory.series(of: service, in: db)
        series = (service, read)
        return read
    }
}
