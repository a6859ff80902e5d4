import Foundation
import FoundationNetworking

/// Values as a transcript shows them: everything in them that has the same text in every run.
enum Described {
    static func response(_ response: URLResponse?) -> String {
        guard let response else { return "none" }
        let http = response as? HTTPURLResponse
        let headers = http?.allHeaderFields.map { "\($0.key): \($0.value)" }.sorted() ?? []
        return """
            \(http.map { String($0.statusCode) } ?? "no status") \(text(response.url)) \
            length \(response.expectedContentLength) type \(text(response.mimeType)) \
            encoding \(text(response.textEncodingName)) file \(text(response.suggestedFilename)) \(headers)
            """
    }

    static func request(_ request: URLRequest?) -> String {
        guard let request else { return "none" }
        let headers = request.allHTTPHeaderFields?.map { "\($0.key): \($0.value)" }.sorted() ?? []
        return """
            \(text(request.httpMethod)) \(text(request.url)) \(headers) body \(text(request.httpBody?.count)) \
            stream \(request.httpBodyStream != nil) policy \(request.cachePolicy.rawValue) \
            timeout \(request.timeoutInterval) cookies \(request.httpShouldHandleCookies)
            """
    }

    static func error(_ error: (any Error)?) -> String {
        guard let error else { return "none" }
        let ns = error as NSError
        let info = ns.userInfo.map { "\($0.key) = \(value($0.value))" }.sorted()
        return "\(type(of: error)) \(ns.domain) \(ns.code) \(ns.localizedDescription.debugDescription) \(info)"
    }

    /// Describes a task. Must not be called on the task's own queue, because reading the priority waits for that queue.
    static func task(_ task: URLSessionTask) -> String {
        """
        priority \(task.priority) \(task.taskIdentifier) state \(task.state.rawValue) \
        received \(task.countOfBytesReceived) of \(task.countOfBytesExpectedToReceive) \
        sent \(task.countOfBytesSent) of \(task.countOfBytesExpectedToSend) \
        description \(text(task.taskDescription)) delegate \(task.delegate != nil) \
        | original \(request(task.originalRequest)) | current \(request(task.currentRequest)) \
        | response \(response(task.response)) | error \(error(task.error))
        """
    }

    /// Describes a task's progress. Foundation updates it later, on the task's queue, so this function first waits for
    /// the work in that queue. With or without an agent, the update that comes with a task's last change may or may not
    /// find the task completed, so a transcript has no progress after the end.
    static func progress(_ task: URLSessionTask) -> String {
        _ = task.priority
        let progress = task.progress
        return """
            \(progress.completedUnitCount) of \(progress.totalUnitCount) cancelled \(progress.isCancelled) \
            finished \(progress.isFinished)
            """
    }

    static func challenge(_ challenge: URLAuthenticationChallenge) -> String {
        let space = challenge.protectionSpace
        return """
            \(space.authenticationMethod) \(space.protocol ?? "") \(space.host):\(space.port) realm \(text(space.realm)) \
            proxy \(space.isProxy()) failures \(challenge.previousFailureCount) \
            proposed \(text(challenge.proposedCredential?.user)) | response \(response(challenge.failureResponse)) \
            | error \(error(challenge.error))
            """
    }

    /// Describes a value of an error's user info: text as it is, an error with its own values, anything else by its type.
    private static func value(_ value: Any) -> String {
        switch value {
        case let text as String: text.debugDescription
        case let url as URL: url.absoluteString
        case let error as NSError: "(\(Described.error(error)))"
        default: "\(type(of: value))"
        }
    }

    private static func text(_ value: (some CustomStringConvertible)?) -> String {
        value.map { "\($0)" } ?? "none"
    }
}
