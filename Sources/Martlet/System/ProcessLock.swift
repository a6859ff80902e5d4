import CMartletHooks
import Synchronization

/// A value of the process and its lock; a forked child has its own. Thread-safe.
///
/// At the moment of the fork another thread may hold the parent's lock, which nobody opens in the child, and the value may be
/// in the middle of a change. So the child never looks at it. The memory is not freed: a child pays nothing for memory that
/// it does not write to.
///
/// `@unchecked Sendable`: the pointer is exchanged as a whole, and the memory behind it has a lock.
package struct ProcessLock<Value: Sendable>: ~Copyable, @unchecked Sendable {
    private struct Slot: ~Copyable {
        let process: UInt32
        let lock: Lock<Value>
    }

    private let first: Value
    /// The value of the process that used it last. Unsafe memory, so that threads that take the lock count no references;
    /// never freed.
    private let slot = Atomic<UnsafeMutablePointer<Slot>?>(nil)

    /// - Parameter first: the initial value, in a forked child too.
    package init(_ first: Value) {
        self.first = first
    }

    /// Runs `body` with the value of this process, under the lock.
    package borrowing func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        let known = slot.load(ordering: .acquiring)
        if let known, known.pointee.process == martlet_process() { return try known.pointee.lock.withLock(body) }
        return try make(after: known).pointee.lock.withLock(body)
    }

    /// Makes the value at its first use in a process.
    private borrowing func make(after known: UnsafeMutablePointer<Slot>?) -> UnsafeMutablePointer<Slot> {
        let new = UnsafeMutablePointer<Slot>.allocate(capacity: 1)
        new.initialize(to: Slot(process: martlet_process(), lock: Lock(first)))
        let (isExchanged, other) = slot.compareExchange(expected: known, desired: new, ordering: .acquiringAndReleasing)
        guard !isExchanged, let other else { return new }
        new.deinitialize(count: 1)
        new.deallocate()
        return other
    }
}
