import GRDB
import Synchronization

/// The series of each service as a reader met them, so that most reports read no names. A row keeps its names, and its number is
/// given to no other row. So the memory of a service is complete as long as the latest number is the same.
final class SeriesMemory: Sendable {
    /// Series at most, some 25 MB. Past it the memory is emptied, and the rows are read when they are next needed.
    static let maxSeries = 50_000

    private struct Known: Sendable {
        var services: [String: KnownSeries] = [:]
        var count = 0
    }

    private let known = Mutex(Known())

    /// The number of series that are remembered.
    var count: Int { known.withLock { $0.count } }

    /// Returns the series of a service, from the store if any was made since they were last read.
    ///
    /// - Parameter isRemembered: whether series that were read are remembered. Maintenance goes through all services, and would empty
    ///   the memory of reports.
    func series(of service: String, isRemembered: Bool = true, in db: Database) throws -> KnownSeries {
        let latest = try SeriesRows.latest(ofService: service, in: db)
        if let known = known.withLock({ $0.services[service] }), known.latest == latest { return known }
        let read = try SeriesRows.all(ofService: service, latest: latest, in: db)
        if isRemembered { remember(read, as: service) }
        return read
    }

    private func remember(_ service: KnownSeries, as name: String) {
        known.withLock { known in
            known.count += service.count - (known.services[name]?.count ?? 0)
            if known.count > Self.maxSeries {
                known = Known()
                known.count = service.count
            }
            known.services[name] = service
        }
    }
}
