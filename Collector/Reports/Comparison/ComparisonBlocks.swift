import MartletStorage

/// Blocks of equal length that a window is cut into, so that the variation between them tells how much its figures vary by
/// themselves. Requests of one minute resemble each other, so a block is long; the variation needs several, so there are 8 to
/// 10 where that is possible. Pure.
package struct ComparisonBlocks: Sendable, Equatable {
    /// The length of a block, in nanoseconds: at least a minute, and whole slots.
    package let step: UInt64
    /// The blocks, in order. They follow each other without a gap and end with the window's last whole slot. A rest at the
    /// window's start that is too short for another slot in each block is left out.
    package let windows: [TimeWindow]

    private static let minLength: UInt64 = 60_000_000_000

    /// - Parameter slot: the length of the slots in which the window's requests are stored, in nanoseconds; each begins at a
    ///   multiple of it. If parts of the window are stored in slots of different lengths, the longest.
    package init(_ window: TimeWindow, slot: UInt64) {
        let slot = max(slot, 1)
        let (first, last) = ((window.from / slot) + (window.from % slot > 0 ? 1 : 0), window.to / slot)
        let slots = last > first ? last - first : 0
        let shortest = (Self.minLength - 1) / slot + 1
        let count = Self.count(slots: slots, shortest: shortest)
        let length = max(count > 0 ? slots / count : 0, shortest)
        step = length * slot
        windows = (0..<count).reversed().map { later in
            let end = last - later * length
            return TimeWindow(from: (end - length) * slot, to: end * slot)
        }
    }

    /// Returns the number of blocks: 10, 9 or 8 if these leave out a twentieth of the slots at most, or at least no more than
    /// a fifth. Otherwise 7 or 6, or as few as there is time for.
    ///
    /// - Parameter shortest: the slots of the shortest block.
    private static func count(slots: UInt64, shortest: UInt64) -> UInt64 {
        func covered(by count: UInt64) -> UInt64 {
            slots / count >= shortest ? slots / count * count : 0
        }
        for share in [0.95, 0.8] {
            let most: UInt64? = [10, 9, 8].first { slots > 0 && Double(covered(by: $0)) >= share * Double(slots) }
            if let most { return most }
        }
        guard let few = ([7, 6] as [UInt64]).max(by: { covered(by: $0) < covered(by: $1) }), covered(by: few) > 0 else {
            return slots / shortest
        }
        return few
    }
}
