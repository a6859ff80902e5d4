import Foundation
import FoundationNetworking
import Synchronization

/// A session's delegate that says when a task has ended.
final class TaskEnd: NSObject, URLSessionDataDelegate {
    private let waiting = Mutex<[Int: @Sendable () -> Void]>([:])

    func await(_ task: URLSessionTask, _ done: @escaping @Sendable () -> Void) {
        waiting.withLock { $0[task.taskIdentifier] = done }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        waiting.withLock { $0.removeValue(forKey: task.taskIdentifier) }?()
    }
}
