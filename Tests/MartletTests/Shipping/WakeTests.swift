import Foundation
import Testing

@testable import Martlet

@Suite struct WakeTests {
    @Test func aSignalThatNobodyWaitedForIsKeptOnce() {
        let wake = Wake()
        wake.signal()
        wake.signal()
        wake.wait(nanoseconds: .max)
        let before = Clock.monotonic()
        wake.wait(nanoseconds: 1_000_000)
        #expect(Clock.monotonic() - before >= 1_000_000)
    }

    @Test func aSignalEndsAWaitFromAnyThread() {
        let wake = Wake()
        for _ in 1...100 {
            Thread { wake.signal() }.start()
            wake.wait(nanoseconds: .max)
        }
    }
}
