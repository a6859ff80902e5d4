import MartletStorage
import MartletTelemetry

/// The requests of rows in ``ComparedSlots``.
struct SlotsOfRows: Sendable {
    let slots: ComparedSlots
    private var after: [[String?]: [RequestGroup]] = [:]
    private var before: [[String?]: [RequestGroup]] = [:]

    init(_ slots: ComparedSlots) { self.slots = slots }

    /// Returns `false` if the store has only longer slots.
    ///
    /// - Parameter answers: the answers to ``ComparedSlots/queries(_:after:before:)``.
    mutating func add(_ answers: [StatisticsAnswer]) -> Bool {
        guard answers.count == 2, answers.allSatisfy({ $0.slots?.grid.step == slots.step }) else { return false }
        let groups = answers.map { Array(zip($0.groups.map(\.values), $0.slots?.wholeSlots ?? [])) }
        after.merge(groups[0]) { first, _ in first }
        before.merge(groups[1]) { first, _ in first }
        return true
    }

    /// Returns the slots of a row: those before, then those of the compared window.
    subscript(row: [String?]) -> (before: [RequestGroup], after: [RequestGroup]) {
        (filled(before[row], row, slots.before), filled(after[row], row, slots.after))
    }

    private func filled(_ groups: [RequestGroup]?, _ row: [String?], _ window: TimeWindow) -> [RequestGroup] {
        let count = Int(clamping: window.length / slots.step)
        let known = (groups ?? []).suffix(count)
        return Array(repeating: RequestGroup(values: row), count: count - known.count) + known
    }
}

extension GroupSlots {
    /// The slots of each group. A slot that the window cuts to less than half is part of its neighbour.
    fileprivate var wholeSlots: [[RequestGroup]] {
        let blocks = grid.blocks
        return groups.map { slots in
            blocks.map { slots[$0].dropFirst().reduce(into: slots[$0.lowerBound]) { $0.merge($1) } }
        }
    }
}

extension Storage {
    /// The most slots of rows in an answer. Stores allow 20,000.
    private var maxSlotsOfRows: Int { 12_000 }

    /// Returns the slots of rows, read in portions; `nil` if the store has only longer ones.
    func slots(
        of rows: [[String?]], _ slots: ComparedSlots, after: StatisticsQuery, before: StatisticsQuery
    ) async throws -> SlotsOfRows? {
        var (found, left) = (SlotsOfRows(slots), rows[...])
        while !left.isEmpty {
            let portion = left.prefix(max(maxSlotsOfRows / max(slots.slotsOfRow, 1), 1))
            let queries = slots.queries(.named(Array(portion)), after: after, before: before)
            let answers = try await statistics(queries).map { try $0.get() }
            guard found.add(answers) else { return nil }
            left = left.dropFirst(portion.count)
        }
        return found
    }
}
