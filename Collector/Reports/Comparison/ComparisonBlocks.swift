import MartletStorage
import MartletTelemetry

/// The blocks that a window is divided into. The differences between blocks show how much the figures vary normally. Blocks are
/// long, because requests of the same minute resemble each other. There are several, 8 to 12 where possible, because the
/// variation is computed from them. Pure.
struct ComparisonBlocks: Sendable, Equatable {
    /// The length of a block, in nanoseconds: at least a minute, and whole slots.
    let step: UInt64
    /// The slot border nearest to the window's end. A block ends there.
    let end: UnixNanoseconds

    private static let minLength: UInt64 = 60_000_000_000

    /// - Parameter slot: the length of the slots in which the window's requests are stored, in nanoseconds. Each slot begins at a
    ///   multiple of it. If parts of the window are stored in slots of different lengths, this is the longest.
    init(_ window: TimeWindow, slot: UInt64) {
        let slot = max(slot, 1)
        let (first, last) = (Self.border(nearest: window.from, slot), Self.border(nearest: window.to, slot))
        let slots = last > first ? last - first : 0
        let shortest = (Self.minLength - 1) / slot + 1
        let count = Self.count(slots: slots, shortest: shortest)
        step = max(count > 0 ? slots / count : 0, shortest) * slot
        end = last * slot
    }

    /// Returns the nearest border as a number of slots since 1970.
    private static func border(nearest time: UnixNanoseconds, _ slot: UInt64) -> UInt64 {
        let (before, rest) = time.quotientAndRemainder(dividingBy: slot)
        // There is no border after the end of time.
        let isAfter = rest >= slot - rest && !(before + 1).multipliedReportingOverflow(by: slot).overflow
        return isAfter ? before + 1 : before
    }

    /// Returns the number of blocks. It is 10, 9 or 8 if at most a twentieth of the slots is left over, or else at most a fifth.
    /// Otherwise it is 7 or 6, or as many as there is time for.
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

extension SlotGrid {
    /// The slots of each block, in order. A slot that the window cuts to less than half joins the neighbouring block, so no
    /// request is left out.
    package var blocks: [Range<Int>] { blocks(ofAtLeast: step - step / 2) }

    /// Returns the slots of each block, in order. A slot that the window cuts to less than `length` nanoseconds joins the
    /// neighbouring block.
    func blocks(ofAtLeast length: UInt64) -> [Range<Int>] {
        guard count > 0 else { return [] }
        var blocks = (0..<count).map { $0..<$0 + 1 }
        if isCut(slot: count - 1, below: length), blocks.count > 1 {
            blocks.removeLast()
            blocks[blocks.count - 1] = count - 2..<count
        }
        if isCut(slot: 0, below: length), blocks.count > 1 {
            blocks.removeFirst()
            blocks[0] = 0..<blocks[0].upperBound
        }
        return blocks
    }

    private func isCut(slot index: Int, below length: UInt64) -> Bool {
        window(ofSlot: index).length < min(step, length)
    }
}

extension ComparisonBlocks {
    /// The fewest slots of each length that a window needs, so that its blocks have nearly the same length.
    private static let fewestSlots = [(Tier.hour.length, 360 as UInt64), (SummarySlot.length, 20)]

    /// Returns the slot length for a window's blocks, in nanoseconds. It is the longest that fits, because a store reads fewer
    /// points in longer slots, where it has already added them up.
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
    /// The slots of each group as blocks, in the order of the answer's groups.
    var blocks: [[RequestGroup]] {
        let blocks = grid.blocks
        return groups.map { slots in
            blocks.map { slots[$0].dropFirst().reduce(into: slots[$0.lowerBound]) { $0.merge($1) } }
        }
    }
}
