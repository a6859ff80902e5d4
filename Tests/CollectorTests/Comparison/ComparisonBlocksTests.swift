import Fixtures
import MartletReports
import MartletStorage
import Testing

@Suite struct ComparisonBlocksTests {
    private static let (second, minute, hour): (UInt64, UInt64, UInt64) = (
        1_000_000_000, 60_000_000_000, 3_600_000_000_000
    )

    private static func blocks(_ length: UInt64, slot: UInt64, from: UInt64 = 0) -> ComparisonBlocks {
        let from = from + 480_000 * hour
        return ComparisonBlocks(TimeWindow(from: from, to: from + length), slot: slot)
    }

    @Test(
        arguments: [
            (hour, 10 * second, 10, 6 * minute), (hour, minute, 10, 6 * minute),
            (15 * minute, 10 * second, 10, 90 * second),
            (10 * minute, 10 * second, 10, minute), (9 * minute, 10 * second, 9, minute),
            (7 * minute, 10 * second, 7, minute),
            (6 * minute, 10 * second, 6, minute), (5 * minute, 10 * second, 5, minute), (24 * hour, hour, 8, 3 * hour),
            (12 * hour, hour, 10, hour), (13 * hour, hour, 6, 2 * hour), (15 * hour, hour, 7, 2 * hour),
            (168 * hour, hour, 10, 16 * hour), (30 * 24 * hour, hour, 10, 72 * hour), (4 * hour, hour, 4, hour),
            (hour, 7 * second, 10, 357 * second),
        ] as [(UInt64, UInt64, Int, UInt64)])
    func aWindowHasTenBlocksOrTheNumberThatFits(length: UInt64, slot: UInt64, count: Int, step: UInt64) {
        let blocks = Self.blocks(length, slot: slot)
        #expect(blocks.windows.count == count)
        #expect(blocks.step == step)
    }

    @Test func aWindowWithoutAWholeMinuteHasNoBlocks() {
        for length in [0, 1, 59 * Self.second] {
            #expect(Self.blocks(length, slot: 10 * Self.second).windows == [])
        }
        #expect(Self.blocks(59 * Self.minute, slot: Self.hour).windows == [])
        #expect(ComparisonBlocks(TimeWindow(from: 10, to: 5), slot: 0).windows == [])
    }

    @Test func blocksAreOfWholeSlotsWithinTheWindowAndEndWithItsLast() {
        var random = SeededGenerator(seed: 1)
        for _ in 0..<2_000 {
            let slot = [1, 7, 10, 60, 600, 3600][Int.random(in: 0..<6, using: &random)] * Self.second
            let from = UInt64.random(in: 0..<10 * Self.hour, using: &random)
            let window = TimeWindow(from: from, to: from + UInt64.random(in: 0..<60 * Self.hour, using: &random))
            let blocks = ComparisonBlocks(window, slot: slot)
            let last = window.to - window.to % slot
            guard let first = blocks.windows.first else {
                #expect(last < from + max(slot, Self.minute) + slot)
                continue
            }
            #expect(first.from >= from && blocks.windows.last?.to == last)
            #expect(blocks.step >= Self.minute && blocks.step % slot == 0 && blocks.windows.count <= 10)
            #expect(blocks.windows.allSatisfy { $0.to - $0.from == blocks.step && $0.to % slot == 0 })
            #expect(zip(blocks.windows, blocks.windows.dropFirst()).allSatisfy { $0.to == $1.from })
            // The rest that is left out is a fifth at most, beside the part of a slot in which the window begins.
            #expect(Double(last - first.from) >= 0.8 * Double(last - from) - Double(slot))
        }
    }

    @Test func theEndOfTimeIsNoTrap() {
        for slot in [0, 1, Self.second, .max] {
            _ = ComparisonBlocks(TimeWindow(from: 0, to: .max), slot: slot)
            _ = ComparisonBlocks(TimeWindow(from: .max, to: .max), slot: slot)
        }
    }
}
