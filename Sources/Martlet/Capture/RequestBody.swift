#if os(Linux)
import Dispatch
import Foundation
import FoundationNetworking

/// The body that is sent with a request, if it is in memory. A body from a file or a stream is not read.
enum RequestBody {
    /// Returns at most the first `bytes` bytes of a body in memory; `nil` for any other. To be called on the session's
    /// queue, because Foundation changes the body only there.
    ///
    /// - Parameter task: `nil` outside that queue. The result is `nil` then, because the task may send another body.
    static func beginning(of request: URLRequest, _ task: URLSessionTask?, bytes: Int) -> Data? {
        guard let task else { return nil }
        guard let upload = task as? URLSessionUploadTask else { return request.httpBody?.prefix(bytes) }
        // An upload task sends a body of its own, and not its request's.
        guard let body = knownBody(of: upload) else { return nil }
        var beginning = Data()
        body.subdata(in: 0..<min(bytes, body.count)).enumerateBytes { part, _, _ in beginning.append(part) }
        return beginning
    }

    /// Returns the data that `uploadTask(with:from:)` was given. Foundation keeps it in `URLSessionTask.knownBody`, an
    /// optional enum with data, a file or a stream. `Mirror` reads that property, so the result is `nil` with a Foundation
    /// that stores the body in another way.
    private static func knownBody(of task: URLSessionTask) -> DispatchData? {
        guard let bodyIndex, let stored = mirror(of: task)?.children.dropFirst(bodyIndex).first?.value,
            let body = StoredField.unwrapped(stored)
        else { return nil }
        return Mirror(reflecting: body).children.first?.value as? DispatchData
    }

    /// The index of `knownBody` among a task's properties, found in a task that never runs; `nil` if there is none. Only
    /// this property of a running task may be read.
    private static let bodyIndex: Int? = mirror(of: URLSessionTask()).flatMap { mirror in
        mirror.children.enumerated().first { $0.element.label == "knownBody" }?.offset
    }

    private static func mirror(of task: URLSessionTask) -> Mirror? {
        var mirror: Mirror? = Mirror(reflecting: task)
        while let current = mirror, current.subjectType != URLSessionTask.self { mirror = current.superclassMirror }
        return mirror
    }
}
#endif
