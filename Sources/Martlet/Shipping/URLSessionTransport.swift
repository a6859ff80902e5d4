import CMartletHooks
import Foundation
import MartletTelemetry
import Synchronization

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Posts over the agent's own `URLSession`. It stores nothing, uses no stored credentials and follows no redirect.
/// Capture recognises its requests by their delegate, and ignores them.
final class URLSessionTransport: UploadTransport {
    /// The queue that makes tasks. The sessions of a process share a queue, and most calls wait for it: if the service
    /// blocks it, the agent's thread must not block too.
    private let queue = DispatchQueue(label: "martlet.upload")
    private let delegate = UploadDelegate()
    /// The session, made at the first upload: the first session of a process fixes the protocols of
    /// `URLSession.shared`.
    private var session: URLSession?
    /// When the upload times out, in nanoseconds of the monotonic clock.
    private var deadline: UInt64 = 0

    /// Does not call `invalidateAndCancel()`, which would create the shared session just to compare it with this one.
    deinit { session?.finishTasksAndInvalidate() }

    func start(_ upload: Upload) {
        cancel()
        deadline = Clock.monotonic() &+ upload.timeout.nanoseconds
        let session = session ?? Self.makeSession(delegate)
        self.session = session
        let number = delegate.begin()
        guard let url = URL(string: upload.url) else {
            return delegate.fail("the collector's address is not a URL", of: number)
        }
        queue.async { [delegate] in
            let task = session.uploadTask(with: Self.request(to: url, upload), from: Data(upload.body))
            // The upload may have been cancelled before its task was made.
            if delegate.follow(task, as: number) { task.resume() } else { task.cancel() }
        }
    }

    /// Ends the upload when its time is up. `URLSession` would end it later, because it counts whole seconds.
    func proceed(for duration: Duration) -> UploadEnd? {
        let now = Clock.monotonic()
        let left = deadline > now ? deadline - now : 0
        if let end = delegate.wait(nanoseconds: min(left, duration.nanoseconds)) { return end }
        return Clock.monotonic() < deadline ? nil : .timedOut(reason: "no answer in time")
    }

    func cancel() {
        guard let task = delegate.abandon() else { return }
        queue.async { task.cancel() }
    }

    /// Does nothing: the session decides when it closes its connections.
    func rest() {}

    private static func makeSession(_ delegate: UploadDelegate) -> URLSession {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.urlCache = nil
        configuration.httpCookieStorage = nil
        configuration.httpShouldSetCookies = false
        // Otherwise Foundation parses cookies with a date formatter, and an odd locale or time zone crashes the
        // process.
        configuration.httpCookieAcceptPolicy = .never
        configuration.urlCredentialStorage = nil
        return URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
    }

    private static func request(to url: URL, _ upload: Upload) -> URLRequest {
        var request = URLRequest(url: url)
        request.httpMethod = "POST"
        request.timeoutInterval = upload.timeout.seconds.rounded(.up) + 1
        for (name, value) in upload.headers { request.setValue(value, forHTTPHeaderField: name) }
        return request
    }
}

/// Receives the events of an upload over `URLSession`, and wakes the agent's thread at its end. It follows one upload
/// at a time, and ignores events of earlier ones.
final class UploadDelegate: NSObject, URLSessionDataDelegate, OwnUploadDelegate {
    private struct State {
        var number: UInt64 = 0
        var task: URLSessionTask?
        var answer: UploadAnswer?
        var end: UploadEnd?
    }

    private let state = Lock(State())
    private let ended = Wake()

    // MARK: For the agent's thread

    /// Returns the number of the upload that begins.
    func begin() -> UInt64 {
        state.withLock { state in
            state = State(number: state.number + 1)
            return state.number
        }
    }

    /// Stops following the current upload, and returns its task if it has not ended.
    func abandon() -> URLSessionTask? {
        state.withLock { state in
            defer { state = State(number: state.number + 1) }
            return state.end == nil ? state.task : nil
        }
    }

    /// Waits for the end of the upload, at most for `nanoseconds`; returns `nil` if it has not ended.
    func wait(nanoseconds: UInt64) -> UploadEnd? {
        if let end = state.withLock({ $0.end }) { return end }
        ended.wait(nanoseconds: nanoseconds) { sleep in
            martlet_end_work()
            sleep()
            martlet_begin_work()
        }
        return state.withLock { $0.end }
    }

    // MARK: For the queue that tasks are made on

    /// Returns whether the upload with that number is current. If so, `task` becomes its task.
    func follow(_ task: URLSessionTask, as number: UInt64) -> Bool {
        state.withLock { state in
            if state.number == number { state.task = task }
            return state.number == number
        }
    }

    func fail(_ reason: String, of number: UInt64) {
        state.withLock { if $0.number == number { $0.end = .failed(mayHaveArrived: false, reason: reason) } }
        ended.signal()
    }

    // MARK: URLSessionDataDelegate

    /// A redirect counts as the answer.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        note(response, of: task)
        completionHandler(nil)
    }

    /// A challenge counts as the answer too: the agent has no credentials other than the token.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        guard let response = challenge.failureResponse as? HTTPURLResponse else {
            return completionHandler(.performDefaultHandling, nil)
        }
        note(response, of: task)
        completionHandler(.cancelAuthenticationChallenge, nil)
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        if let response = response as? HTTPURLResponse { note(response, of: dataTask) }
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        state.withLock { state in
            guard state.task === dataTask else { return }
            let room = MartletLimits.answerBody - (state.answer?.body.count ?? 0)
            state.answer?.body += data.prefix(max(0, room))
        }
    }

    /// Ends the upload. If the head of an answer arrived, its status counts, even if the body was truncated. If there
    /// is no answer and no connection asked for the body, the collector cannot have the batch.
    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let isSent = task.countOfBytesSent > 0
        state.withLock { state in
            guard state.task === task, state.end == nil else { return }
            let reason = error?.localizedDescription ?? "no answer"
            state.end = state.answer.map(UploadEnd.answered) ?? .failed(mayHaveArrived: isSent, reason: reason)
        }
        ended.signal()
    }

    /// Notes an answer, unless it is provisional.
    private func note(_ response: HTTPURLResponse, of task: URLSessionTask) {
        guard response.statusCode >= 200 else { return }
        let answer = UploadAnswer(
            status: response.statusCode, retryAfter: response.value(forHTTPHeaderField: "Retry-After") ?? "",
            rejectedRequests: response.value(forHTTPHeaderField: BatchID.rejectedHeaderName) ?? "",
            store: response.value(forHTTPHeaderField: StoreHeader.name) ?? "",
            contentType: response.value(forHTTPHeaderField: "Content-Type") ?? "", body: [])
        state.withLock { if $0.task === task { $0.answer = answer } }
    }
}
