import MartletTelemetry
import Synchronization

/// When a request began for its caller.
struct RequestStart: Sendable {
    let wall = Clock.wall()
    let monotonic = Clock.monotonic()
}

/// The starts of tasks that were resumed and whose loading has not begun: some 100 µs each, most of it waiting for the
/// session's queue, which belongs to the duration that the caller sees.
enum RequestStarts {
    /// Tasks that never reach the native loader (a protocol of the service's own took them) leave their start behind.
    /// At this many all are forgotten, and the few that were under way count from the start of loading.
    static let limit = 4096

    private static let starts = Mutex<[UInt: RequestStart]>([:])

    static func note(task: UnsafeMutableRawPointer) {
        let start = RequestStart()
        starts.withLock { starts in
            if starts.count >= limit { starts.removeAll(keepingCapacity: true) }
            starts[UInt(bitPattern: task)] = start
        }
    }

    static func take(task: UnsafeMutableRawPointer) -> RequestStart? {
        starts.withLock { $0.removeValue(forKey: UInt(bitPattern: task)) }
    }
}
