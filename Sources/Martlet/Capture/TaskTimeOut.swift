#if os(Linux)
import Foundation
import FoundationNetworking

/// The time-out with which Foundation ends a task whose server is silent.
enum TaskTimeOut {
    /// The time-out of a request that sets none (`URLRequest.timeoutInterval`).
    private static let unset = 60.0

    /// Returns the time-out of the loader's request or, if that sets none, of its session. A request that sets 60 s cannot be
    /// told from one that sets none.
    static func of(_ loader: URLProtocol) -> Duration? {
        let interval = loader.request.timeoutInterval
        let session = interval == unset ? loader.task.flatMap(session) : nil
        let seconds = session?.configuration.timeoutIntervalForRequest ?? interval
        return seconds > 0 && seconds < 86_400 ? .nanoseconds(Int64(seconds * 1e9)) : nil
    }

    /// Initializes the type's lazy values ahead of the first request (see ``ForkedChild/prepare()``).
    static func initializeStatics() { _ = field }

    private static func session(of task: URLSessionTask) -> URLSession? {
        let task = UnsafeRawPointer(Unmanaged.passUnretained(task).toOpaque())
        return field?.pointer(in: task).flatMap {
            Unmanaged<AnyObject>.fromOpaque($0).takeUnretainedValue() as? URLSession
        }
    }

    /// The field with a task's session, found in a task that never runs and has a stand-in for one.
    private static let field = StoredField("session", of: URLSessionDataTask())
}
#endif
