import Foundation
import Synchronization
import Testing

@testable import Martlet

/// An executor that runs its work when the test allows it.
private final class HeldWork: Sendable {
    private let work = Mutex<[@Sendable () -> Void]>([])

    var count: Int { work.withLock { $0.count } }

    func add(_ one: @escaping @Sendable () -> Void) { work.withLock { $0.append(one) } }

    func runAll() {
        let all = work.withLock { work in
            defer { work = [] }
            return work
        }
        for one in all { one() }
    }
}

@Suite struct DelayProbeTests {
    private let work = HeldWork()

    @Test func returnedProbeGivesADelay() throws {
        let probe = DelayProbe(countingFrom: .seconds(1), to: nil, alwaysRuns: true)
        for _ in 1...3 {
            probe.send(work.add)
            work.runAll()
        }
        let delays = try #require(probe.take())
        #expect(delays.count == 3)
        #expect(delays.max > 0 && delays.sum >= delays.max)
        #expect(probe.take() == nil)
    }

    @Test func onlyOneProbeIsPendingAtATime() {
        let probe = DelayProbe(countingFrom: .seconds(1), to: nil, alwaysRuns: true)
        for _ in 1...10 { probe.send(work.add) }
        #expect(work.count == 1)
        work.runAll()
        probe.send(work.add)
        #expect(work.count == 1)
    }

    @Test func stuckProbeCountsWithItsAge() throws {
        let probe = DelayProbe(countingFrom: .zero, to: nil, alwaysRuns: true)
        probe.send(work.add)
        let first = try #require(probe.take())
        let second = try #require(probe.take())
        #expect(first.count == 1)
        #expect(second.max > first.max)
    }

    @Test func newlySentProbeDoesNotCount() {
        let probe = DelayProbe(countingFrom: .seconds(3600), to: nil, alwaysRuns: true)
        probe.send(work.add)
        #expect(probe.take() == nil)
    }

    @Test func queueThatNothingRunsHasNoDelay() {
        let probe = DelayProbe(countingFrom: .zero, to: nil, alwaysRuns: false)
        probe.send(work.add)
        #expect(probe.take() == nil)
    }

    @Test func stuckQueueThatRanBeforeHasADelay() {
        let probe = DelayProbe(countingFrom: .zero, to: nil, alwaysRuns: false)
        probe.send(work.add)
        work.runAll()
        _ = probe.take()
        probe.send(work.add)
        #expect(probe.take()?.count == 1)
    }

    @Test func queueThatNothingRunsAnyMoreHasNoDelay() {
        let probe = DelayProbe(countingFrom: .zero, to: .zero, alwaysRuns: false)
        probe.send(work.add)
        work.runAll()
        _ = probe.take()
        probe.send(work.add)
        #expect(probe.take() == nil)
    }
}
