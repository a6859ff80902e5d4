import CMartletHooks
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
