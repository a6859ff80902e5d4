import CMartletHooks
import Dispatch
import Synchronization

/// A value and its lock: a `Synchronization.Mutex` that also works in a forked child.
///
/// On Linux a `Mutex` remembers a thread's number from the thread's first use, but the thread that forked has another
/// number in the child. If a thread of the child waits for a lock that this thread holds, the process traps.
///
/// `@unchecked Sendable`: the value is accessed only under the lock. It is in unsafe memory, because Swift has no other
/// public place in a struct that threads can change. An object that exists once per request inherits ``LockedObject``.
struct Lock<Value: ~Copyable>: ~Copyable, @unchecked Sendable {
    private let word = LockWord()
    private let value: UnsafeMutablePointer<Value>

    init(_ value: consuming sending Value) {
        self.value = .allocate(capacity: 1)
        self.value.initialize(to: value)
    }

    deinit {
        value.deinitialize(count: 1)
        value.deallocate()
    }

    /// Runs `body` with the value, under the lock.
    borrowing func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        word.lock()
        defer { word.unlock() }
        // The access takes two steps: otherwise the thread sanitizer assumes that the whole lock was changed, including
        // the word.
        let address = value
        return try body(&address.pointee)
    }
}

/// An object with a state and its lock, which are stored in the object itself: a request allocates nothing for its lock.
///
/// `@unchecked Sendable`, and without the run-time check of exclusive access: the state is accessed only under the lock.
class LockedObject<State>: @unchecked Sendable {
    private let word = LockWord()
    @exclusivity(unchecked) private var state: State

    init(state: consuming sending State) {
        self.state = state
    }

    /// Runs `body` with the state, under the lock.
    final func withState<Result: ~Copyable, Failure: Error>(
        _ body: (inout sending State) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        word.lock()
        defer { word.unlock() }
        return try body(&state)
    }
}

/// A lock in one word: 0 if free, 1 if taken, 2 if taken and a thread may be waiting.
private struct LockWord: ~Copyable {
    private let word = Atomic<UInt32>(0)

    @inline(__always)
    borrowing func lock() {
        if !word.compareExchange(expected: 0, desired: 1, ordering: .acquiring).exchanged { lockSlowly() }
    }

    @inline(__always)
    borrowing func unlock() {
        if word.exchange(0, ordering: .releasing) == 2 { wakeWaiter() }
    }

    @inline(never)
    private borrowing func lockSlowly() { withUnsafePointer(to: word) { martlet_lock_slowly(Self.address($0)) } }

    @inline(never)
    private borrowing func wakeWaiter() { withUnsafePointer(to: word) { martlet_wake_waiter(Self.address($0)) } }

    /// The word's address for the kernel. An `Atomic` is never copied, so it has one address.
    private static func address(_ word: UnsafePointer<Atomic<UInt32>>) -> UnsafeMutablePointer<UInt32> {
        UnsafeMutableRawPointer(mutating: word).assumingMemoryBound(to: UInt32.self)
    }
}

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
