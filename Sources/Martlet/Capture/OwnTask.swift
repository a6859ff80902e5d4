import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The mark on the tasks of the agent's own uploads; capture passes them by. A property of the request
/// (`URLProtocol.setProperty`) would not do: on Linux it is lost when the session copies the request.
enum OwnTask {
    private static let description = "martlet.upload"

    static func mark(_ task: URLSessionTask) { task.taskDescription = description }

    static func isMarked(_ task: URLSessionTask) -> Bool { task.taskDescription == description }
}
