import MartletStorage
import MartletTelemetry

extension ComparisonBlocks {
    /// Slots that a window is cut into at least, so that its blocks leave little of it out.
    private static let fewestSlots: UInt64 = 360

    /// Returns the length of the slots that a window's blocks are made of, in nanoseconds: as long as fits, because a store
    /// reads fewer points where it keeps them by the minute or the hour as well.
    static func slot(for window: TimeWindow) -> UInt64 {
        let wanted = (window.to - min(window.from, window.to)) / fewestSlots
        return [Tier.hour, .minute].map { UInt64($0.length) }.first { $0 <= wanted } ?? UInt64(Tier.fine.length)
    }
}

extension StatisticsQuery {
    /// Returns the query of all rows in blocks.
    func cut(into blocks: ComparisonBlocks) -> StatisticsQuery {
        var query = self
        (query.order, query.limit) = (GroupOrder(), nil)
        (query.step, query.slotEnd) = (blocks.step, blocks.windows.last?.to)
        return query
    }
}

extension GroupSlots {
    /// The whole slots of each group, in the order of the answer's groups.
    var blocks: [[RequestGroup]] {
        let whole = (0..<grid.count).filter(grid.isWhole)
        return groups.map { slots in whole.map { slots[$0] } }
    }

    var blockCount: Int { (0..<grid.count).count { grid.isWhole(slot: $0) } }
}
