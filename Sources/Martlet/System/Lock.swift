import CMartletHooks
import Dispatch
import Synchronization

/// A value and its lock: a `Synchronization.Mutex` that works in a forked child too.
///
/// On Linux a `Mutex` keeps a thread's number from the thread's first use on, and the thread that forked has another number
/// in the child. If a thread of the child waits for a lock that this thread holds, the process traps.
///
/// `@unchecked Sendable`: the value is touched under the lock alone. The cells are Synchronization's own, so that the value
/// is in its owner, and a request allocates nothing for its lock.
struct Lock<Value: ~Copyable>: ~Copyable, @unchecked Sendable {
    private let word = _Cell<UInt32>(0)
    private let value: _Cell<Value>

    init(_ value: consuming sending Value) {
        self.value = _Cell(value)
    }

    /// Runs `body` with the value, under the lock.
    borrowing func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        martlet_lock(word._address)
        defer { martlet_unlock(word._address) }
        // The access takes two steps: in one step the thread sanitizer takes the whole lock for changed, the word included.
        let address = value._address
        return try body(&address.pointee)
    }
}

#if compiler(<6.3)
/// A fixed place in memory for a value. Synchronization's type of this name is public from Swift 6.3 on; it needs no allocation.
private struct _Cell<Value: ~Copyable>: ~Copyable {
    let _address: UnsafeMutablePointer<Value>

    init(_ value: consuming Value) {
        _address = .allocate(capacity: 1)
        _address.initialize(to: value)
    }

    deinit {
        _address.deinitialize(count: 1)
        _address.deallocate()
    }
}
#endif

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

/// Wakes the one thread that waits. A signal that comes while it does not wait is kept.
///
/// A `DispatchSemaphore` would not do: on Linux it waits by the wall clock (`sem_timedwait`), and a clock that is set back an
/// hour makes it wait an hour longer. A `DispatchGroup` waits for a length of time.
final class Wake: Sendable {
    private let state = Lock(State())

    private struct State {
        var isSignalled = false
        var sleeper: DispatchGroup?
    }

    func signal() {
        state.withLock { state in
            state.isSignalled = true
            state.sleeper?.leave()
            state.sleeper = nil
        }
    }

    /// Waits for a signal, for `nanoseconds` at most. For one thread alone.
    ///
    /// - Parameter around: runs the closure that it gets, in which the thread sleeps and does nothing else.
    func wait(nanoseconds: UInt64, around: (_ sleep: () -> Void) -> Void = { $0() }) {
        if let sleeper = fallAsleep() {
            let end = DispatchTime.now() + .nanoseconds(Int(clamping: nanoseconds))
            around { _ = sleeper.wait(timeout: end) }
        }
        state.withLock { state in
            state.sleeper?.leave()
            state = State()
        }
    }

    private func fallAsleep() -> DispatchGroup? {
        state.withLock { state in
            guard !state.isSignalled else { return nil }
            let sleeper = DispatchGroup()
            sleeper.enter()
            state.sleeper = sleeper
            return sleeper
        }
    }
}
