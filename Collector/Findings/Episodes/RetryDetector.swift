/// Finds the served endpoint that asks a failing one more often for each request than before: it tries again, and makes the
/// trouble worse.
struct RetryDetector {
    /// Slots before the trouble that say what is usual: an hour.
    private static let reference = 360

    let rows: RowTable
    let graph: DependencyGraph
    /// The first slot with data, and the one after the last.
    let begin: Slot
    let now: Slot

    /// - Parameters:
    ///   - failing: the episode that is retried, with the row that names it.
    ///   - places: rows that suffer from it.
    func retries(of failing: Episode, at row: Int, _ places: [Place]) -> RetryRatio? {
        guard failing.start > begin else { return nil }
        let slots = failing.slots(until: now)
        let asking = Set([row] + places.compactMap(\.row)).sorted().filter {
            rows[$0].row.kind == .client && ($0 == row || graph.target(of: $0) == row)
        }
        for index in asking {
            let share = rows[index].share(ofFailuresIn: slots)
            guard share.bad >= 0.3 * share.all, let ratio = ratio(of: index, slots) else { continue }
            return ratio
        }
        return nil
    }

    private func ratio(of index: Int, _ slots: Range<Slot>) -> RetryRatio? {
        let row = rows[index].row
        let served = rows.distinguished(rows.served[row.service] ?? [])
        guard !served.isEmpty else { return nil }
        let made = (rows.made[row.service] ?? []).filter { rows[$0].row.subject.withoutHost == row.subject.withoutHost }
        let now = ratios(served, made, slots)
        let before = ratios(served, made, max(begin, slots.lowerBound - Self.reference)..<slots.lowerBound)
        guard let best = served.indices.max(by: { now.made(by: $0) < now.made(by: $1) }) else { return nil }
        let ratio = RetryRatio(served: served[best], perRequest: now.ratios[best], before: before.ratios[best])
        let explained = zip(before.ratios, now.served).reduce(0) { $0 + $1.0 * $1.1 }
        let isSure =
            now.made >= 20 && now.served[best] >= 5 && before.served[best] >= 5
            && now.made(by: best) >= 0.5 * now.made && now.made >= 1.25 * explained
        return isSure && ratio.isMore && now.isNeeded(best) ? ratio : nil
    }

    private func ratios(_ served: [Int], _ made: [Int], _ slots: Range<Slot>) -> Ratios {
        let columns = served.map { rows[$0].folded(slots) }
        let target = rows.folded(made, slots)
        return Ratios(columns: columns, target: target, ratios: LeastSquares.nonNegative(columns, target))
    }

    private struct Ratios {
        /// The requests of each served endpoint, and those made, by step.
        let columns: [[Double]]
        let target: [Double]
        let ratios: [Double]

        var served: [Double] { columns.map(\.total) }
        var made: Double { target.total }

        func isNeeded(_ index: Int) -> Bool { LeastSquares.isNeeded(index, columns, target, ratios) }

        func made(by index: Int) -> Double { ratios[index] * served[index] }
    }
}

/// The number of calls that a served endpoint makes for each request that it serves.
struct RetryRatio {
    /// The row of the served endpoint.
    let served: Int
    let perRequest: Double
    let before: Double

    fileprivate var isMore: Bool {
        before > 0 && perRequest >= max(FindingConstants.retriesGrowth * before, 1.4)
    }
}
