/// The rows that are watched, by an index that stays as long as the row is used. Each service that serves several endpoints has
/// a row for all of them, too.
struct RowTable {
    private(set) var series: [RowSeries] = []
    private var isUsed: [Bool] = []
    private var indexes: [FindingRow: Int] = [:]
    /// The row for all that a service serves.
    private var totals: [String: Int] = [:]
    /// The served rows of each service.
    private(set) var served: [String: [Int]] = [:]
    /// The rows of the requests that each service makes.
    private(set) var made: [String: [Int]] = [:]
    private var free: [Int] = []
    /// The minute after the newest one.
    private(set) var end: Minute
    /// Counts each change of the rows, so that others know that what they have derived is out of date.
    private(set) var version = 0
    /// Rows that were not watched in the last minute, because there are too many.
    private(set) var unwatched = 0

    init(end: Minute) { self.end = end }

    subscript(index: Int) -> RowSeries { series[index] }

    func index(of row: FindingRow) -> Int? { indexes[row] }

    /// The row for all that a service serves, if it serves several endpoints.
    func total(of service: String) -> Int? {
        served[service, default: []].count > 1 ? totals[service] : nil
    }

    /// The rows that are looked at, in order.
    var watched: [Int] { series.indices.filter(isWatched) }

    private func isWatched(_ index: Int) -> Bool {
        let row = series[index].row
        return isUsed[index] && (!row.isTotal || served[row.service, default: []].count > 1)
    }

    // MARK: Changes

    mutating func advance(to end: Minute) {
        self.end = end
        unwatched = 0
        for index in series.indices { series[index].advance(to: end) }
    }

    mutating func take(_ row: RowMinute) {
        guard let index = index(adding: row.row) else { return unwatched += 1 }
        guard row.slots.count == FindingTime.slotsOfMinute, series[index].failures.minutes.contains(row.minute) else {
            return
        }
        let old = series[index].slotSums(of: row.minute)
        series[index].replace(row.minute, row.slots)
        guard row.row.kind == .server, let total = total(adding: row.row.service) else { return }
        var sums = series[total].slotSums(of: row.minute)
        sums.add(series[index].slotSums(of: row.minute), minus: old)
        series[total].replace(row.minute, sums)
    }

    mutating func exclude(_ minutes: Range<Minute>, of index: Int, from kind: FindingKind) {
        series[index].exclude(minutes, from: kind)
    }

    private mutating func total(adding service: String) -> Int? {
        if let index = totals[service] { return index }
        totals[service] = index(adding: .total(of: service))
        return totals[service]
    }

    private mutating func index(adding row: FindingRow) -> Int? {
        if let index = indexes[row] { return index }
        guard let index = place(for: row) else { return nil }
        indexes[row] = index
        version += 1
        guard !row.isTotal else { return index }
        if row.kind == .server { served[row.service, default: []].append(index) }
        if row.kind == .client { made[row.service, default: []].append(index) }
        return index
    }

    private mutating func place(for row: FindingRow) -> Int? {
        let new = RowSeries(row, end: end)
        if let index = free.popLast() {
            series[index] = new
            isUsed[index] = true
            return index
        }
        guard series.count < FindingConstants.rows else { return nil }
        series.append(new)
        isUsed.append(true)
        return series.endIndex - 1
    }

    /// Forgets rows without requests in all the time that is kept, unless something still names them.
    mutating func forgetUnused(except named: Set<Int>) {
        for index in series.indices where isUsed[index] && !named.contains(index) {
            guard series[index].lastUsed < end - FindingConstants.keptMinutes else { continue }
            let row = series[index].row
            indexes[row] = nil
            if row.isTotal { totals[row.service] = nil }
            isUsed[index] = false
            served[row.service]?.removeAll { $0 == index }
            made[row.service]?.removeAll { $0 == index }
            free.append(index)
            version += 1
        }
    }
}
