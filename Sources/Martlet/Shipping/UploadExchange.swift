import Foundation
import MartletTelemetry
import Synchronization

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The one upload under way, as its session reports it.
final class UploadExchange: NSObject, URLSessionDataDelegate {
    private let state = Mutex(State())
    private let finished: @Sendable () -> Void

    fileprivate struct State {
        var task: URLSessionDataTask?
        var signal: Signal?
        var answer: UploadAnswer?
        var body = Data()
        var outcome: UploadOutcome?
    }

    init(finished: @escaping @Sendable () -> Void) {
        self.finished = finished
    }

    func begin(_ task: URLSessionDataTask, signal: Signal) {
        state.withLock { $0 = State(task: task, signal: signal) }
        task.resume()
    }

    var outcome: UploadOutcome? { state.withLock { $0.outcome } }

    func cancel() {
        let task = state.withLock { state in
            defer { state.task = nil }
            return state.task
        }
        task?.cancel()
    }

    // MARK: URLSessionDataDelegate

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        update(dataTask) { $0.note(response) }
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        update(dataTask) { state in
            state.body += data.prefix(max(0, MartletLimits.responseBytes - state.body.count))
        }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        update(task) { state in
            state.note(task.response)
            state.conclude(error)
            state.task = nil
        }
        finished()
    }

    /// Answered with a refusal, because a challenge without an answer never ends on Linux.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        update(task) { $0.note(challenge.failureResponse) }
        completionHandler(.cancelAuthenticationChallenge, nil)
    }

    /// Not followed: it would carry the batch and its token to a place that nobody configured.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(nil)
    }

    /// What a cancelled upload still says is not heard.
    private func update(_ task: URLSessionTask, _ change: (inout State) -> Void) {
        state.withLock { state in
            if state.task === task { change(&state) }
        }
    }
}

extension UploadExchange.State {
    fileprivate mutating func note(_ response: URLResponse?) {
        guard let response = response as? HTTPURLResponse else { return }
        answer = UploadAnswer(
            status: response.statusCode,
            retryAfter: response.value(forHTTPHeaderField: "Retry-After")
                .flatMap { RetryAfter.delay($0, now: Date()) },
            rejectedRequests: response.value(forHTTPHeaderField: BatchID.rejectedHeaderName).flatMap { UInt64($0) })
    }

    fileprivate mutating func conclude(_ error: (any Error)?) {
        // With an error and a status there was a challenge, or the answer was cut off after its head: the status counts.
        if var answer, let signal {
            answer.body = Array(body)
            outcome = UploadOutcome(answer, signal: signal)
        } else {
            outcome = UploadOutcome(transportError: error.map { ($0 as NSError).localizedDescription } ?? "no answer")
        }
    }
}
