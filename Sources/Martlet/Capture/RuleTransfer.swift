#if os(Linux)
import CMartletHooks
import Foundation
import FoundationNetworking

/// The changes that a rule makes to one loader's transfer, from its start to the head of its answer. If that answer is
/// a redirect, the requests that follow it are not changed.
///
/// Use it on the session's queue. libcurl reads its values, so it lives as long as the loader.
final class RuleTransfer {
    private let headers: [RuleDecision.HeaderChange]
    private let action: RuleAction?
    private let handle: EasyHandle
    private weak var loader: URLProtocol?
    private var addresses: UnsafeMutableRawPointer?
    private var url: UnsafeMutableRawPointer?
    private var server: LocalServer?
    /// How long the start is delayed.
    private let wait: Duration
    /// When the loader may start, by the monotonic clock; `nil` before its first start.
    private var due: UInt64?
    private var isOver = false

    /// Applies a decision to a loader that has not started; `nil` for a request without a URL.
    init?(_ decision: RuleDecision, to loader: URLProtocol, _ handle: EasyHandle) {
        guard let url = loader.request.url else { return nil }
        headers = decision.headers
        self.loader = loader
        self.handle = handle
        // Foundation's own time-out runs from the start.
        if decision.delay > .zero, let timeOut = TaskTimeOut.timeOut(of: loader), timeOut <= decision.delay {
            (action, wait) = (.fail(.timeout), timeOut)
        } else {
            (action, wait) = (decision.action, decision.delay)
        }
        let isApplied =
            switch action {
            case .connect(let host, let port): connect(url, to: host, port)
            case .redirect(let origin): load(url, from: origin)
            case .respond(let answer): serve(answer.bytes(toMethod: loader.request.httpMethod ?? "GET"), url)
            case .fail: false
            case nil: true
            }
        // Connect to a socket that nothing serves: for `fail`, and if the rule cannot be applied, so that the request
        // never reaches the real server.
        if !isApplied { _ = martlet_connect_locally(handle.raw, nil, nil) }
    }

    deinit {
        server?.stop()
        martlet_free_list(addresses)
        martlet_free_url(url)
    }

    private func connect(_ url: URL, to host: String, _ port: Int) -> Bool {
        let target = RequestTarget(url)
        addresses = martlet_connect_to(handle.raw, "\(target.bracketedHost):\(target.port):\(host):\(port)")
        return addresses != nil
    }

    private func load(_ url: URL, from origin: RuleOrigin) -> Bool {
        guard var parts = URLComponents(url: url, resolvingAgainstBaseURL: true) else { return false }
        (parts.scheme, parts.encodedHost, parts.port) = (origin.scheme, origin.host, origin.port)
        guard let text = parts.string else { return false }
        self.url = martlet_load_instead(handle.raw, text)
        return self.url != nil
    }

    /// Directs the transfer to a local server. A request over TLS is sent without TLS, because nothing leaves the
    /// process.
    private func serve(_ answer: [UInt8], _ url: URL) -> Bool {
        let text = url.absoluteString
        if url.scheme == "https" {
            self.url = martlet_load_instead(handle.raw, "http" + text.dropFirst("https".count))
            guard self.url != nil else { return false }
        }
        let server = LocalServer(answer)
        self.server = server
        return martlet_connect_locally(
            handle.raw,
            { context, listener in
                guard let context else { return }
                let server = Unmanaged<LocalServer>.fromOpaque(context).takeUnretainedValue()
                server.listen(OwnDescriptor(number: listener))
            }, Unmanaged.passUnretained(server).toOpaque())
    }

    /// Changes the header fields of the request that libcurl is about to write.
    func changeHeaders() {
        guard !isOver else { return }
        for change in headers { handle.replaceHeader(change.name, by: change.value) }
    }

    /// Notes that the head of the answer has come. After that libcurl does not send the request again.
    func noteHead() {
        guard !isOver else { return }
        isOver = true
        handle.endDetour()
    }

    /// Returns whether the loader may start. If not, it is started when the rule's delay is over.
    func mayStart() -> Bool {
        guard wait > .zero else { return true }
        if let due { return Clock.monotonic() >= due }
        guard let loader, let task = loader.task, let queue = TaskQueue.queue(of: task) else { return true }
        due = Clock.monotonic() &+ wait.nanoseconds
        let waiting = WaitingLoader(loader)
        queue.asyncAfter(deadline: .now() + wait.seconds) { waiting.start() }
        return false
    }

    /// Returns the error that the caller gets instead of a refused or closed connection. Any other error is unchanged,
    /// such as the request's own time-out.
    func error(insteadOf error: any Error) -> any Error {
        guard case .fail(let failure)? = action, !isOver else { return error }
        let native = error as NSError
        if failure == .connectionRefused, native.code == NSURLErrorCannotConnectToHost { return error }
        guard native.domain == NSURLErrorDomain, RuleFailure.replaced.contains(native.code) else { return error }
        return RuleFailure.error(failure, native)
    }
}

/// A loader whose start is delayed.
///
/// `@unchecked Sendable` because a weak reference has to be a variable. Only the runtime writes it, and it is used on
/// the loader's queue.
private final class WaitingLoader: @unchecked Sendable {
    private weak var loader: URLProtocol?

    init(_ loader: URLProtocol) {
        self.loader = loader
    }

    /// Starts the loader, unless its task was cancelled or suspended. A suspended task starts its loader when it is
    /// resumed.
    func start() {
        guard let loader, loader.task?.state == .running else { return }
        loader.startLoading()
    }
}

/// The errors with which Foundation on Linux ends failed requests (`urlErrorCode(for:)` in MultiHandle.swift; libcurl's
/// lib/strerror.c).
enum RuleFailure {
    /// The codes of a connection that a rule prevented or closed.
    static let replaced: Set<Int> = [
        NSURLErrorUnknown, NSURLErrorCannotConnectToHost, NSURLErrorBadServerResponse, NSURLErrorNetworkConnectionLost,
    ]

    /// - Parameter native: the error of the prevented connection, whose URL the result keeps.
    static func error(_ failure: MartletRule.Failure, _ native: NSError) -> URLError {
        // Foundation's time-out has only its code.
        if failure == .timeout { return URLError(.timedOut) }
        var info = native.userInfo
        let host = (info[NSURLErrorFailingURLErrorKey] as? URL)?.host ?? ""
        let (code, text) = codeAndText(failure, host)
        info[NSLocalizedDescriptionKey] = text
        info[NSUnderlyingErrorKey] = NSError(
            domain: NSURLErrorDomain, code: code.rawValue, userInfo: [NSLocalizedDescriptionKey: text])
        return URLError(code, userInfo: info)
    }

    private static func codeAndText(_ failure: MartletRule.Failure, _ host: String) -> (URLError.Code, String) {
        switch failure {
        case .dns: (.cannotFindHost, "Could not resolve host: \(host)")
        case .connectionRefused: (.cannotConnectToHost, "Failed to connect to \(host): Couldn't connect to server")
        case .connectionFailed: (.unknown, "Failed to connect to \(host): Couldn't connect to server")
        case .connectionReset: (.networkConnectionLost, "Recv failure: Connection reset by peer")
        case .timeout: (.timedOut, "Connection timed out")
        case .tls: (.unknown, "SSL certificate problem: unable to get local issuer certificate")
        case .tooManyRedirects: (.httpTooManyRedirects, "too many HTTP redirects")
        case .invalidResponse: (.unknown, "transfer closed with outstanding read data remaining")
        }
    }
}
#endif
