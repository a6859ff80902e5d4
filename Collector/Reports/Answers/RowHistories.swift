import MartletStorage
import MartletTelemetry

import func Foundation.exp2
import func Foundation.log2

/// The pasts of compared rows, each read from the store once an hour.
///
/// A server keeps them for all readers. A command without a server has its own, and reads a past when it first needs it.
package actor RowHistories {
    /// The most rows whose pasts are kept, at 40 KB each. Those that were needed least recently are dropped.
    static let maxRows = 1000

    private let storage: any Storage
    private var pasts: [Key: Entry] = [:]
    /// The number of uses of pasts so far.
    private var uses = 0
    /// The reading that is going on.
    private var reading: Task<[Key: RowPast], any Error>?

    private struct Key: Hashable {
        var filter: [Dimension: Set<String>]
        var by: [Dimension]
        var values: [String?]
        var end: UnixNanoseconds
    }

    private struct Entry {
        var past: RowPast
        /// The noise, by the lengths of the compared window and of its slots.
        var noise: [NoiseKey: RowNoise] = [:]
        var lastUse: Int
    }

    private struct NoiseKey: Hashable {
        var windowMinutes: Int
        var slotMinutes: Int
    }

    package init(of storage: some Storage) {
        self.storage = storage
    }

    /// Returns the past of each row, in order.
    ///
    /// - Parameters:
    ///   - rows: the values of the rows in the query's dimensions.
    ///   - query: the query of the compared window. The past ends at the last full hour before it.
    package func pasts(of rows: [[String?]], _ query: StatisticsQuery) async throws -> [RowPast] {
        let keys = keys(rows, query)
        // Pages that load at the same time need the same rows, so one of them reads, and the others wait.
        while let reading {
            _ = await reading.result
            try Task.checkCancellation()
        }
        let unknown = keys.filter { pasts[$0] == nil }
        let found = unknown.isEmpty ? [:] : try await startReading(unknown, query).valueUnlessCancelled
        return keys.map { key in
            uses += 1
            let past = pasts[key]?.past ?? found[key] ?? .none
            pasts[key, default: Entry(past: past, lastUse: uses)].lastUse = uses
            if pasts.count > Self.maxRows + Self.maxRows / 4 { dropOldest() }
            return past
        }
    }

    private func startReading(_ unknown: [Key], _ query: StatisticsQuery) -> Task<[Key: RowPast], any Error> {
        let task = Task { try await read(unknown, query) }
        reading = task
        return task
    }

    /// Reads pasts, and keeps them.
    private func read(_ unknown: [Key], _ query: StatisticsQuery) async throws -> [Key: RowPast] {
        defer { reading = nil }
        let end = RowPast.end(before: query.window.from)
        let read = try await PastReading(unknown.map(\.values), query, end: end).pasts(in: storage)
        let found = Dictionary(zip(unknown, read)) { first, _ in first }
        pasts.merge(found.mapValues { Entry(past: $0, lastUse: uses) }) { known, _ in known }
        return found
    }

    /// Returns the past of each row and its noise, in order. The noise is computed once an hour for each row and length.
    ///
    /// - Parameters:
    ///   - rows: the values of the rows in the query's dimensions.
    ///   - query: the query of the compared window, which consists of whole slots.
    ///   - slotMinutes: the length of these slots.
    func pastsWithNoise(
        of rows: [[String?]], _ query: StatisticsQuery, slotMinutes: Int
    ) async throws -> [(past: RowPast, noise: RowNoise)] {
        let minute = UInt64(Tier.minute.length)
        let (start, length) = (Int(query.window.from / minute), Int(query.window.length / minute))
        let kind = NoiseKey(windowMinutes: length, slotMinutes: slotMinutes)
        let pasts = try await pasts(of: rows, query)
        return zip(keys(rows, query), pasts).map { key, past in
            if let noise = self.pasts[key]?.noise[kind] { return (past, noise) }
            let noise = RowNoise(past.history, before: start, windowMinutes: length, slotMinutes: slotMinutes)
            self.pasts[key]?.noise[kind] = noise
            return (past, noise)
        }
    }

    private func keys(_ rows: [[String?]], _ query: StatisticsQuery) -> [Key] {
        let end = RowPast.end(before: query.window.from)
        return rows.map { Key(filter: query.filter.wanted, by: query.by, values: $0, end: end) }
    }

    private func dropOldest() {
        let latest = pasts.values.map(\.lastUse).sorted(by: >)[Self.maxRows]
        pasts = pasts.filter { $0.value.lastUse > latest }
    }
}

extension Task where Failure == any Error {
    /// The task's value. If the caller's task is cancelled, so is this one.
    fileprivate var valueUnlessCancelled: Success {
        get async throws {
            try await withTaskCancellationHandler {
                try await value
            } onCancel: {
                cancel()
            }
        }
    }
}

/// A reading of pasts from a store, the latest slots first. Each portion is counted before the next one is read, because the
/// distributions of two days of many rows would take much memory.
private struct PastReading {
    private let rows: [[String?]]
    private let query: StatisticsQuery
    private let end: UnixNanoseconds

    private static let slot = RowPast.slot
    /// The number of slots of a past.
    private static let slots = VerdictConstants.pastMinutes / Int(RowPast.slotMinutes)
    /// The most slots of rows in an answer. Stores allow 20,000.
    private static let maxSlotsOfRows = 12_000

    /// - Parameter query: the query of the compared window.
    init(_ rows: [[String?]], _ query: StatisticsQuery, end: UnixNanoseconds) {
        (self.rows, self.end) = (rows, end)
        var past = StatisticsQuery(window: query.window, filter: query.filter, by: query.by, step: Self.slot)
        (past.groups, past.hasFigures, past.slotScale) = (.named(rows), false, TrendStep.scale)
        self.query = past
    }

    /// Returns the past of each row.
    func pasts(in storage: some Storage) async throws -> [RowPast] {
        var counts = rows.map { _ in SlotCounts() }
        var left = min(Self.slots, Int(clamping: end / Self.slot))
        while left > 0, !rows.isEmpty {
            let portion = min(left, max(Self.maxSlotsOfRows / rows.count, 1))
            var query = query
            let to = end - UInt64(Self.slots - left) * Self.slot
            query.window = TimeWindow(from: to - UInt64(portion) * Self.slot, to: to)
            // The past starts after the time of which the store has only hours.
            guard let slots = try await add(query, portion, to: &counts, in: storage) else { break }
            left -= slots
        }
        return counts.map { RowPast(bounds: $0.bounds, slots: $0.slots.reversed(), end: end) }
    }

    /// Adds a portion of the past, and returns its number of slots; `nil` if the store has only longer ones.
    private func add(
        _ query: StatisticsQuery, _ portion: Int, to counts: inout [SlotCounts], in storage: some Storage
    ) async throws -> Int? {
        let answer = try await storage.statistics(query)
        guard answer.window == query.window, let slots = answer.slots, slots.grid.step == Self.slot else { return nil }
        let found = Dictionary(zip(answer.groups.map(\.values), slots.groups)) { first, _ in first }
        for (index, row) in rows.enumerated() {
            counts[index].add(found[row] ?? Array(repeating: RequestGroup(values: row), count: portion))
        }
        return portion
    }
}

/// The counts of slots of a row, the latest first.
private struct SlotCounts {
    private(set) var bounds: [Double] = []
    private(set) var slots: [[Double]] = []

    mutating func add(_ groups: [RequestGroup]) {
        if bounds.isEmpty { bounds = RequestSignal.bounds(of: groups) }
        slots += groups.reversed().map { $0.signalCounts(above: bounds) }
    }
}

extension RequestSignal {
    /// Returns the duration above which a request has each signal with a quantile, in seconds; none if there are no requests.
    static func bounds(of groups: [RequestGroup]) -> [Double] {
        let durations = ExponentialHistogram(mergedFrom: groups)
        return durations.quantiles(allCases.compactMap(\.quantile)).compactMap { quantile in
            quantile.map { bound(notBelow: $0) }
        }
    }

    /// Returns the lowest bound of buckets of ``TrendStep/scale`` that is not below a duration. Buckets of a finer scale have the
    /// same bound.
    private static func bound(notBelow duration: Double) -> Double {
        guard duration > 0 else { return 0 }
        let buckets = Double(1 << TrendStep.scale)
        return exp2((log2(duration) * buckets).rounded(.up) / buckets)
    }
}

extension RequestGroup {
    /// Returns the number of requests, of failed ones, and of those that took longer than each bound.
    ///
    /// - Parameter bounds: seconds, one for each signal with a quantile; none if there were no requests before.
    func signalCounts(above bounds: [Double]) -> [Double] {
        let slow = bounds.map { bound in
            [succeeded, failed].reduce(0) { $0 + Double($1.duration.count - $1.duration.countOfValues(upTo: bound)) }
        }
        let none = Array(repeating: 0.0, count: RequestSignal.allCases.count - 1 - slow.count)
        return [Double(count), Double(failedCount)] + slow + none
    }
}

extension ExponentialHistogram {
    /// Creates the histogram of the durations of all groups.
    fileprivate init(mergedFrom groups: [RequestGroup]) {
        self.init()
        for group in groups {
            merge(group.succeeded.duration)
            merge(group.failed.duration)
        }
    }
}
