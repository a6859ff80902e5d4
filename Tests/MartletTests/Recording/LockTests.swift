import Foundation
import Testing

@testable import Martlet

@Suite struct LockTests {
    private final class Counter: LockedObject<Int>, @unchecked Sendable {
        init() { super.init(state: 0) }
    }

    private final class Sum: Sendable {
        let value = Lock(0)
    }

    /// A thread yields while it holds the lock, so others wait for it in the kernel.
    @Test func everyThreadThatWaitsGetsTheLock() async {
        let (counter, sum, threads) = (Counter(), Sum(), DispatchGroup())
        for _ in 0..<4 {
            threads.enter()
            Thread {
                for step in 0..<2_000 {
                    counter.withState { state in
                        if step % 8 == 0 { sched_yield() }
                        state += 1
                    }
                    sum.value.withLock { value in
                        if step % 8 == 4 { sched_yield() }
                        value += 1
                    }
                }
                threads.leave()
            }.start()
        }
        await withCheckedContinuation { done in threads.notify(queue: .global()) { done.resume() } }
        #expect(counter.withState { $0 } == 8_000)
        #expect(sum.value.withLock { $0 } == 8_000)
    }

    @Test func errorReleasesTheLock() throws {
        let counter = Counter()
        #expect(throws: CancellationError.self) { try counter.withState { _ in throw CancellationError() } }
        #expect(counter.withState { $0 } == 0)
    }

    @Test func valueIsReleasedWithItsLock() {
        weak var released: Sum?
        do {
            let lock = Lock(Sum())
            released = lock.withLock { $0 }
            #expect(released != nil)
        }
        #expect(released == nil)
    }
}
