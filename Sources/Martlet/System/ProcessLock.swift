import CMartletHooks
import Synchronization

/// A value of the process, and the lock on it: a forked child has one of its own. Thread-safe.
///
/// At the moment of the fork another thread may have held the parent's lock, which nobody will open in the child, and the value
/// may have been in the middle of a change. So the child never looks at it, and it stays where it is: memory that the child does
/// not write to costs nothing.
///
/// `@unchecked Sendable`: the pointer is exchanged whole, and what is there has a lock.
package struct ProcessLock<Value: Sendable>: ~Copyable, @unchecked Sendable {
    private struct Place: ~Copyable {
        let process: UInt32
        let lock: Lock<Value>
    }

    private let first: Value
    /// Unsafe memory, so that those who take the lock count no references; never freed.
    private let place = Atomic<UnsafeMutablePointer<Place>?>(nil)

    /// - Parameter first: with which it begins, in a forked child too.
    package init(_ first: Value) {
        self.first = first
    }

    /// Runs `body` alone with the value of this process.
    package borrowing func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        let known = place.load(ordering: .acquiring)
        if let known, known.pointee.process == martlet_process() { return try known.pointee.lock.withLock(body) }
        return try make(after: known).pointee.lock.withLock(body)
    }

    /// The first use in a process.
    private borrowing func make(after known: UnsafeMutablePointer<Place>?) -> UnsafeMutablePointer<Place> {
        let new = UnsafeMutablePointer<Place>.allocate(capacity: 1)
        new.initialize(to: Place(process: martlet_process(), lock: Lock(first)))
        let (isPlaced, other) = place.compareExchange(expected: known, desired: new, ordering: .acquiringAndReleasing)
        guard !isPlaced, let other else { return new }
        new.deinitialize(count: 1)
        new.deallocate()
        return other
    }
}
