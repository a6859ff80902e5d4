#if os(Linux)
import Dispatch
import Foundation
import FoundationNetworking

/// The queue on which a task's loader runs. Only there may libcurl be asked to go on with a transfer.
enum TaskQueue {
    /// Whether Foundation stores the queue in the way that this code expects.
    static var isAvailable: Bool { field != nil }

    /// Returns the task's queue; `nil` where Foundation does not store it in the expected way.
    static func of(_ task: URLSessionTask) -> DispatchQueue? {
        guard let queue = field?.pointer(in: UnsafeRawPointer(Unmanaged.passUnretained(task).toOpaque())) else {
            return nil
        }
        return Unmanaged<DispatchQueue>.fromOpaque(queue).takeUnretainedValue()
    }

    /// The field, found in a task that never runs. The offset is the same in all classes of tasks.
    private static let field = StoredField("workQueue", of: URLSessionDataTask())
}
#endif
