import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Posts over a `URLSession` of the agent's own, which stores nothing, asks nobody for credentials and follows no redirect.
/// Capture knows its requests by their delegate, and does not see them.
final class URLSessionTransport: UploadTransport {
    /// The queue that makes tasks. The sessions of a process share a queue, and most calls wait for it: a service that holds
    /// it up would hold up the agent's thread.
    private let queue = DispatchQueue(label: "martlet.upload")
    private let delegate = UploadDelegate()
    /// The session, made at the first upload: the first session of a process settles which protocols `URLSession.shared` has.
    private var session: URLSession?
    /// The end of the upload's time, in nanoseconds of the monotonic clock.
    private var deadline: UInt64 = 0

    /// `invalidateAndCancel()` would make the shared session, to see that this is another one.
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

    /// Ends the upload when its time is up, ahead of `URLSession`, which knows whole seconds only.
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

    /// Does nothing: the session itself decides when it closes its connections.
    func rest() {}

    private static func makeSession(_ delegate: UploadDelegate) -> URLSession {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.urlCache = nil
        configuration.httpCookieStorage = nil
        configuration.httpShouldSetCookies = false
        // Otherwise Foundation reads cookies with a formatter for dates, with which an odd locale or time zone ends the
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
