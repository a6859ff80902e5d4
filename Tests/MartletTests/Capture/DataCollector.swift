import Foundation
import FoundationNetworking
import Synchronization

/// A session's delegate that collects a task's body.
final class DataCollector: NSObject, URLSessionDataDelegate {
    private struct Pending {
        var data = Data()
        let done: @Sendable (Data?) -> Void
    }
    private let pending = Mutex<[Int: Pending]>([:])

    func data(of task: URLSessionDataTask) async -> Data? {
        await withCheckedContinuation { continuation in
            pending.withLock { $0[task.taskIdentifier] = Pending { continuation.resume(returning: $0) } }
            task.resume()
        }
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        pending.withLock { $0[dataTask.taskIdentifier]?.data += data }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let ended = pending.withLock { $0.removeValue(forKey: task.taskIdentifier) }
        ended?.done(error == nil ? ended?.data : nil)
    }
}
