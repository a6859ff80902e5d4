import MartletStorage
import MartletTelemetry

extension ComparisonBlocks {
    /// Slots of each length that a window is cut into at least, so that its blocks are of nearly the same length.
    private static let fewestSlots = [(Tier.hour.length, 360 as UInt64), (SummarySlot.length, 20)]

    /// Returns the length of the slots that a window's blocks are made of, in nanoseconds: as long as fits, because a store
    /// reads fewer points where it has added them up.
    static func slot(for window: TimeWindow) -> UInt64 {
        let length = window.to - min(window.from, window.to)
        let fitting = fewestSlots.first { UInt64($0.0) <= length / $0.1 }
        return UInt64(fitting?.0 ?? Tier.fine.length)
    }
}

extension StatisticsQuery {
    /// Returns the query of all rows in blocks.
    func cut(into blocks: ComparisonBlocks) -> StatisticsQuery {
        var query = self
        (query.order, query.limit) = (GroupOrder(), nil)
        (query.step, query.slotEnd, query.slotScale) = (blocks.step, blocks.end, nil)
        return query
    }
}

extension GroupSlots {
    /// The blocks of each group, in the order of the answer's groups.
    var blocks: [[RequestGroup]] {
        let blocks = grid.blocks
        return groups.map { slots in
            blocks.map { slots[$0].dropFirst().reduce(into: slots[$0.lowerBound]) { $0.merge($1) } }
        }
    }
}
