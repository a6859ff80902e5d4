import Fixtures
import MartletStorage
import Testing

@testable import MartletReports

@Suite struct ComparisonBlocksTests {
    private static let (second, minute, hour): (UInt64, UInt64, UInt64) = (
        1_000_000_000, 60_000_000_000, 3_600_000_000_000
    )

    private static func grid(_ window: TimeWindow, slot: UInt64) -> SlotGrid {
        let blocks = ComparisonBlocks(window, slot: slot)
        return SlotGrid(window, step: blocks.step, endingAt: blocks.end, expired: ExpiredTimes(fine: 0, minutes: 0))
    }

    private static func grid(_ length: UInt64, slot: UInt64, from: UInt64 = 0) -> SlotGrid {
        let from = from + 480_000 * hour
        return grid(TimeWindow(from: from, to: from + length), slot: slot)
    }

    @Test(
        arguments: [
            (hour, 10 * second, 10, 6 * minute), (hour, minute, 10, 6 * minute), (hour, 3 * minute, 10, 6 * minute),
            (15 * minute, 10 * second, 10, 90 * second),
            (10 * minute, 10 * second, 10, minute), (9 * minute, 10 * second, 9, minute),
            (7 * minute, 10 * second, 7, minute),
            (6 * minute, 10 * second, 6, minute), (5 * minute, 10 * second, 5, minute), (24 * hour, hour, 8, 3 * hour),
            (12 * hour, hour, 12, hour), (13 * hour, hour, 7, 2 * hour), (15 * hour, hour, 8, 2 * hour),
            (168 * hour, hour, 11, 16 * hour), (30 * 24 * hour, hour, 10, 72 * hour), (4 * hour, hour, 4, hour),
            (hour, 7 * second, 10, 357 * second),
        ] as [(UInt64, UInt64, Int, UInt64)])
    func aWindowHasAboutTenBlocksOrTheNumberThatFits(length: UInt64, slot: UInt64, count: Int, step: UInt64) {
        let grid = Self.grid(length, slot: slot)
        #expect(grid.blocks.count == count)
        #expect(grid.step == step)
    }

    @Test func anHourThatBeginsAnywhereHasTenBlocksOfFourToEightMinutes() {
        for from in stride(from: 0, to: 6 * Self.minute, by: Int(Self.second)) {
            let grid = Self.grid(Self.hour, slot: 3 * Self.minute, from: from)
            let lengths = grid.blocks.map {
                grid.window(ofSlot: $0.upperBound - 1).to - grid.window(ofSlot: $0.lowerBound).from
            }
            #expect(lengths.count == 10 && lengths.reduce(0, +) == Self.hour)
            let (shortest, longest) = (4 * Self.minute + 30 * Self.second, 7 * Self.minute + 30 * Self.second)
            #expect(lengths.allSatisfy { $0 >= shortest && $0 <= longest })
        }
    }

    @Test func aWindowWithoutAWholeMinuteIsOneBlockAtMost() {
        for length in [1, 59 * Self.second] {
            #expect(Self.grid(length, slot: 10 * Self.second).blocks == [0..<1])
        }
        #expect(Self.grid(0, slot: 10 * Self.second).blocks == [])
        #expect(Self.grid(59 * Self.minute, slot: Self.hour).blocks.count == 1)
        #expect(Self.grid(TimeWindow(from: 10, to: 5), slot: 0).blocks == [])
    }

    @Test func blocksAreOfWholeSlotsAndHaveAllOfTheWindow() {
        var random = SeededGenerator(seed: 1)
        for _ in 0..<2_000 {
            let slot = [1, 7, 10, 60, 600, 3600][Int.random(in: 0..<6, using: &random)] * Self.second
            let from = UInt64.random(in: 0..<10 * Self.hour, using: &random)
            let window = TimeWindow(from: from, to: from + UInt64.random(in: 1..<60 * Self.hour, using: &random))
            let grid = Self.grid(window, slot: slot)
            let blocks = grid.blocks
            #expect(grid.step >= Self.minute && grid.step % slot == 0 && blocks.count <= 12)
            #expect(blocks.first?.lowerBound == 0 && blocks.last?.upperBound == grid.count)
            #expect(zip(blocks, blocks.dropFirst()).allSatisfy { $0.upperBound == $1.lowerBound })
            let borders = blocks.dropFirst().map { grid.window(ofSlot: $0.lowerBound).from }
            #expect(borders.allSatisfy { $0 % slot == 0 })
            let ends = [window.from] + borders + [window.to]
            let lengths = zip(ends, ends.dropFirst()).map { $1 - $0 }
            #expect(lengths.count == 1 || lengths.allSatisfy { 2 * $0 >= grid.step && 2 * $0 < 3 * grid.step + 2 })
            #expect(lengths.dropFirst().dropLast().allSatisfy { $0 == grid.step })
        }
    }

    @Test func theEndOfTimeIsNoTrap() {
        for slot in [0, 1, Self.second, .max] {
            for from in [0, .max] as [UInt64] {
                let window = TimeWindow(from: from, to: .max)
                #expect(Self.grid(window, slot: slot).blocks.count <= 12)
            }
        }
    }
}
