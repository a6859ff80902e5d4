#if os(Linux)
import CMartletHooks
import Foundation
import FoundationNetworking
import MartletTelemetry
import Synchronization

/// A task's request from `resume` to its end, across all its hops, loaders and challenges. Thread-safe: it begins on the
/// caller's thread and continues on the session's queue, and the agent's thread reads its age.
final class RequestObservation: Sendable {
    let start: RequestStart
    private let state = Lock(State())
    private let process = martlet_process()

    /// Whether this process began the observation. `false` in a forked child for a request that was in flight at the fork:
    /// the request and its lock belong to the parent.
    var isOfThisProcess: Bool { process == martlet_process() }

    private struct State {
        /// The request as its first loader has it, and its URL; `nil` before a loader starts and after the end.
        var request: (asked: URLRequest, url: URL)?
        var context: TraceContext?
        /// The number of requests that libcurl wrote: more than one after a redirect or an answered challenge.
        var requestsWritten = 0
        /// The server's question for credentials; `nil` if the server has not asked.
        var challenge: Challenge?
        /// Whether the task was resumed after the challenge. Foundation resumes it when it has credentials.
        var wasResumed = false
        var isEnded = false
    }

    /// The result of ``RequestObservation/end()``: the values from which the request is recorded.
    struct End {
        var request: URLRequest
        var url: URL
        var context: TraceContext
        /// The attribute `http.request.resend_count`: the requests that libcurl wrote after the first.
        var resends: Int
        var challenged: RequestAnswer?
    }

    init(_ start: RequestStart = RequestStart()) {
        self.start = start
    }

    /// Notes that a loader starts with the request. Only the first loader has an effect: one that follows a challenge
    /// continues the same request.
    func begin(_ request: URLRequest, to url: URL, sampler: TraceSampler) {
        let isFirst = state.withLock { state in
            guard state.request == nil, !state.isEnded else { return false }
            state.request = (request, url)
            state.context = sampler.span(childOf: start.parent)
            return true
        }
        if isFirst { start.enclosing?.noteRequest(.client) }
    }

    enum Stage {
        case resumed
        /// A loader started with the request.
        case begun
        case ended
    }

    var stage: Stage { state.withLock { $0.isEnded ? .ended : $0.request == nil ? .resumed : .begun } }

    /// Whether the request may wait for a loader: no loader has started yet, or the server asked for credentials.
    var waitsForLoader: Bool { state.withLock { $0.challenge != nil || ($0.request == nil && !$0.isEnded) } }

    /// Ends the request and returns its values; `nil` for later callers, and without a loader. A cancelled task fails
    /// twice, through its loader and through its session.
    func end() -> End? {
        state.withLock { state in
            guard let (request, url) = state.request.take(), let context = state.context else { return nil }
            state.isEnded = true
            return End(
                request: request, url: url, context: context, resends: max(0, state.requestsWritten - 1),
                challenged: state.challenge?.answer)
        }
    }

    /// Counts a request that libcurl is about to write. Returns the trace context of the request; `nil` before a loader
    /// starts.
    func noteRequestWritten() -> TraceContext? {
        state.withLock { state in
            state.requestsWritten += 1
            return state.context
        }
    }

    /// Notes that the server asked for credentials. The request continues if its caller gives some. Otherwise it never ends
    /// (Foundation 6.3.1), or ends without another call to its loader's client (6.3.2 and later).
    func noteChallenge(_ answer: RequestAnswer, of task: URLSessionTask) {
        let challenge = Challenge(answer: answer, task: task)
        state.withLock { ($0.challenge, $0.wasResumed) = (challenge, false) }
    }

    var isChallenged: Bool { state.withLock { $0.challenge != nil } }

    func noteResumed() { state.withLock { $0.wasResumed = true } }

    /// Returns whether the request ended with this answer, which asked for credentials, now that its loader is gone.
    /// Foundation suspends a task, gives it another loader and resumes it, so this reads the suspension first and the
    /// resumption second.
    func isOver(after answer: RequestAnswer) -> Bool {
        guard let challenge = state.withLock({ $0.challenge }), challenge.answer === answer,
            challenge.task?.state != .suspended
        else { return false }
        return state.withLock { $0.challenge === challenge && !$0.wasResumed }
    }

    /// The answer that asked for credentials, if its task was completed or released since; `nil` otherwise.
    var unseenEnd: RequestAnswer? {
        // The task is loaded outside the lock, because this reference may be the last one and release it.
        guard let challenge = state.withLock({ $0.challenge }) else { return nil }
        return (challenge.task?.state ?? .completed) == .completed ? challenge.answer : nil
    }

    /// Returns whether the request belongs to an earlier task at the address of `task`. Only a task that was asked for
    /// credentials ends unseen.
    func isLeftOver(at task: URLSessionTask) -> Bool {
        guard let challenge = state.withLock({ $0.challenge }) else { return false }
        return challenge.task !== task
    }
}

/// A server's question for credentials.
///
/// `@unchecked Sendable` because a weak reference has to be a variable. Only the runtime writes it, and its loads are
/// atomic.
private final class Challenge: @unchecked Sendable {
    let answer: RequestAnswer
    private(set) weak var task: URLSessionTask?

    init(answer: RequestAnswer, task: URLSessionTask) {
        self.answer = answer
        self.task = task
    }
}
#endif
