import Foundation
import FoundationNetworking
import Synchronization

/// A session's delegate that says when a task has ended, and calls `meddle` with a task when its first data arrives.
final class TaskEnds: NSObject, URLSessionDataDelegate {
    private struct Wait {
        let ended: CheckedContinuation<Void, Never>
        var meddle: (@Sendable (URLSessionTask) -> Void)?
    }

    private let waits = Mutex<[Int: Wait]>([:])

    /// Resumes a task and waits for its end.
    func end(of task: URLSessionTask, meddle: (@Sendable (URLSessionTask) -> Void)? = nil) async {
        await withCheckedContinuation { ended in
            waits.withLock { $0[task.taskIdentifier] = Wait(ended: ended, meddle: meddle) }
            task.resume()
        }
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        let meddle = waits.withLock { $0[dataTask.taskIdentifier]?.meddle.take() }
        meddle?(dataTask)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        waits.withLock { $0.removeValue(forKey: task.taskIdentifier) }?.ended.resume()
    }
}
