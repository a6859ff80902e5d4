import CMartletHooks
import Dispatch
import Synchronization

/// A value and its lock: a `Synchronization.Mutex` that also works in a forked child.
///
/// On Linux a `Mutex` remembers a thread's number from the thread's first use, but the thread that forked has another
/// number in the child. If a thread of the child waits for a lock that this thread holds, the process traps.
///
/// `@unchecked Sendable`: the value is accessed only under the lock. The cells are Synchronization's own, so the value
/// is stored in its owner, and a request allocates nothing for its lock.
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
        // The access takes two steps: otherwise the thread sanitizer assumes that the whole lock was changed, including
        // the word.
        let address = value._address
        return try body(&address.pointee)
    }
}

#if compiler(<6.3)
/// A fixed place in memory for a value, without an allocation. Synchronization's type of this name is public from Swift
/// 6.3 on.
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
/// At the moment of the fork another thread may hold the parent's lock, which will never be released in the child, and
/// the value may be half changed. So the child never reads it. The memory is not freed: that costs nothing as long as
/// the child does not write to it.
///
/// `@unchecked Sendable`: the pointer is exchanged atomically, and a lock protects the memory behind it.
package struct ProcessLock<Value: Sendable>: ~Copyable, @unchecked Sendable {
    private struct Slot: ~Copyable {
        let process: UInt32
        let lock: Lock<Value>
    }

    private let first: Value
    /// The value of the process that last used it. In unsafe memory, so that threads that take the lock count no
    /// references. Never freed.
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

    /// Creates the value at its first use in a process.
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

/// Wakes the one waiting thread. A signal that comes while it does not wait is kept.
///
/// A `DispatchSemaphore` is unsuitable: on Linux it waits by the wall clock (`sem_timedwait`), so if the clock is set
/// back an hour it waits an hour longer. A `DispatchGroup` waits for a length of time.
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

    /// Waits for a signal, at most for `nanoseconds`. Only one thread may call this.
    ///
    /// - Parameter around: runs the given closure, in which the thread only sleeps.
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
