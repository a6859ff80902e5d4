import Foundation
import Testing

@testable import Martlet

@Suite struct WakeTests {
    @Test func signalWithoutAWaitingThreadIsKeptOnce() {
        let wake = Wake()
        wake.signal()
        wake.signal()
        wake.wait(nanoseconds: .max)
        let before = Clock.monotonic()
        wake.wait(nanoseconds: 1_000_000)
        #expect(Clock.monotonic() - before >= 1_000_000)
    }

    /// Only a lost signal makes a wait last its two minutes.
    @Test func signalFromAnyThreadEndsAWait() throws {
        let (wake, longest) = (Wake(), UInt64(120_000_000_000))
        for _ in 1...100 {
            let before = Clock.monotonic()
            Thread { wake.signal() }.start()
            wake.wait(nanoseconds: longest)
            try #require(Clock.monotonic() - before < longest, "a signal was lost")
        }
    }
}
