import CMartletHooks
import Synchronization

/// A value and the lock on it. In everything `Synchronization.Mutex`, but for one thing: it may be used in a forked child.
///
/// On Linux that one keeps the thread's number from its first use on, and the thread that forked has another one in the child:
/// where somebody waits there for a lock that it holds, the process traps.
///
/// `@unchecked Sendable`: the value is touched under the lock alone. The cells are Synchronization's own, so that the value is
/// in its owner, and a request allocates nothing for its lock.
struct Lock<Value: ~Copyable>: ~Copyable, @unchecked Sendable {
    private let word = _Cell<UInt32>(0)
    private let value: _Cell<Value>

    init(_ value: consuming sending Value) {
        self.value = _Cell(value)
    }

    /// Runs `body` alone with the value.
    borrowing func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        martlet_lock(word._address)
        defer { martlet_unlock(word._address) }
        // In two steps: in one the thread sanitizer takes the whole lock for what is changed, the word included.
        let address = value._address
        return try body(&address.pointee)
    }
}
