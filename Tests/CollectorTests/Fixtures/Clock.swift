import MartletTelemetry
import Synchronization

/// A clock that a test sets.
final class Clock: Sendable {
    private let state = Mutex<UnixNanoseconds>(1000)

    var time: UnixNanoseconds {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }
}
