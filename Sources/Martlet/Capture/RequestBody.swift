#if os(Linux)
import Dispatch
import Foundation
import FoundationNetworking

/// The body that a request is sent with, as far as it is in memory: what comes from a file or a stream is left alone.
enum RequestBody {
    /// No more than its first bytes. To be called on the session's queue, the only place where Foundation changes it.
    ///
    /// - Parameter task: `nil` anywhere else; then nobody can tell whether the request's body is the one that is sent.
    static func beginning(of request: URLRequest, _ task: URLSessionTask?, bytes: Int) -> Data? {
        guard let task else { return nil }
        guard let upload = task as? URLSessionUploadTask else { return request.httpBody?.prefix(bytes) }
        // It has a body of its own, and does not send its request's.
        guard let body = knownBody(of: upload) else { return nil }
        var beginning = Data()
        body.subdata(in: 0..<min(bytes, body.count)).enumerateBytes { part, _, _ in beginning.append(part) }
        return beginning
    }

    /// Of `uploadTask(with:from:)`: a property of Foundation's own, `URLSessionTask.knownBody`, an optional enum with data,
    /// a file or a stream. `Mirror` reads it, so that a Foundation that keeps it otherwise has none to tell.
    private static func knownBody(of task: URLSessionTask) -> DispatchData? {
        guard let place, let stored = mirror(of: task)?.children.dropFirst(place).first?.value,
            let body = StoredField.unwrapped(stored)
        else { return nil }
        return Mirror(reflecting: body).children.first?.value as? DispatchData
    }

    /// Its place among the properties, found in a task that never runs: of one that does, no other may be read.
    private static let place: Int? = mirror(of: URLSessionTask()).flatMap { mirror in
        mirror.children.enumerated().first { $0.element.label == "knownBody" }?.offset
    }

    private static func mirror(of task: URLSessionTask) -> Mirror? {
        var mirror: Mirror? = Mirror(reflecting: task)
        while let current = mirror, current.subjectType != URLSessionTask.self { mirror = current.superclassMirror }
        return mirror
    }
}
#endif
