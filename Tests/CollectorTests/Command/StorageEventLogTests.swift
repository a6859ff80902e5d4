import MartletStorage
import Testing

@testable import martlet_collector

@Suite struct StorageEventLogTests {
    private var events = StorageEventLog()
    private var state = StorageState()

    private mutating func lines() -> [String] { events.lines(after: state).map(\.text) }

    @Test mutating func clockJumpIsLoggedAtItsBeginningAndItsEnd() {
        #expect(lines() == [])
        state.clockJump = 7200
        #expect(lines().first?.hasPrefix("the clock is 2.0 hours ahead of the time") == true)
        state.clockJump = 7210
        #expect(lines() == [])
        state.clockJump = 0
        #expect(lines() == ["the clock is trusted; data is deleted by age from now on"])
    }

    @Test mutating func storeFaultIsLoggedAtItsBeginningAndItsEnd() {
        let logged = [nil, "the disk is full", "the disk is full", nil, nil].map { events.line(on: $0)?.text }
        #expect(
            logged == [
                nil, "the store accepts no batches: the disk is full", nil, "the store accepts batches again", nil,
            ])
    }

    @Test mutating func sheddingIsLoggedOnceAnHour() {
        state.maxBytes = 10 << 30
        var logged: [Int] = []
        for pass in 0...361 {
            state.shedDetails += 3
            if let line = lines().first {
                #expect(
                    line.hasPrefix("the store has reached its limit of 10 GiB (--max-store): \(state.shedDetails) det"))
                logged.append(pass)
            }
        }
        #expect(logged == [0, 360])
    }

    @Test mutating func storeThatCannotShrinkIsLoggedOnce() {
        (state.bytesInUse, state.maxBytes) = (1_610_612_736, 1 << 30)
        // Points that are not rolled up yet may be deleted later.
        #expect(lines() == [])
        state.mayShrink = false
        #expect(lines().first?.hasPrefix("the store holds 1.5 GiB and nothing more may be deleted") == true)
        #expect(lines() == [])
    }

    @Test(arguments: [("1GiB", 1 << 30), ("500MB", 500_000_000), ("1.5kib", 1536), ("7", 7), ("12B", 12), ("0", 0)])
    func sizeIsParsed(text: String, bytes: Int) throws {
        #expect(try ByteSize.parse(text, of: "--max-store") == bytes)
    }

    @Test(arguments: ["", "GiB", "-1", "1XB", "ten", "1e30GiB", "nan", "inf"]) func invalidSizeIsRefused(
        text: String
    ) {
        let error = #expect(throws: (any Error).self) { try ByteSize.parse(text, of: "--max-store") }
        #expect(error.map { "\($0)" }?.contains("--max-store must be a size") == true)
    }
}
