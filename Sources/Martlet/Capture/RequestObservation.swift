#if os(Linux)
import CMartletHooks
import Foundation
import FoundationNetworking
import MartletTelemetry
import Synchronization

/// One request of a task from `resume` to its end, however many hops, loaders and challenges lie between. Thread-safe:
/// it begins on the caller's thread, goes on on the session's queue, and the agent's thread looks at its age.
final class RequestObservation: Sendable {
    let start: RequestStart
    private let state = Lock(State())
    private let process = martlet_process()

    /// `false` in a forked child for what was in flight at the fork: it is the parent's, and so is its lock.
    var isOfThisProcess: Bool { process == martlet_process() }

    private struct State {
        /// `nil` before there is a loader, and after the end.
        var request: (asked: URLRequest, url: URL)?
        var context: TraceContext?
        /// How often libcurl wrote a request: more than once where redirects were followed or a challenge answered.
        var requestsWritten = 0
        /// The server's question for credentials, if it asked.
        var challenge: Challenge?
        /// The task was resumed since, as Foundation does with credentials.
        var wasResumed = false
        var isEnded = false
    }

    /// What there is to tell at the end.
    struct End {
        var request: URLRequest
        var url: URL
        var context: TraceContext
        /// `http.request.resend_count`.
        var resends: Int
        var challenged: RequestAnswer?
    }

    init(_ start: RequestStart = RequestStart()) {
        self.start = start
    }

    /// A loader starts with it: the first, or another one after a challenge, which goes on with what there is.
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
        /// It got as far as a loader.
        case begun
        case ended
    }

    var stage: Stage { state.withLock { $0.isEnded ? .ended : $0.request == nil ? .resumed : .begun } }

    /// Its first loader has not started, or the one that follows a challenge.
    var waitsForLoader: Bool { state.withLock { $0.challenge != nil || ($0.request == nil && !$0.isEnded) } }

    /// Only the first who asks gets an answer: a cancelled task fails twice, through its loader and through its session.
    func end() -> End? {
        state.withLock { state in
            guard let (request, url) = state.request.take(), let context = state.context else { return nil }
            state.isEnded = true
            return End(
                request: request, url: url, context: context, resends: max(0, state.requestsWritten - 1),
                challenged: state.challenge?.answer)
        }
    }

    /// libcurl is about to write a request. Returns the context that it belongs to.
    func noteRequestWritten() -> TraceContext? {
        state.withLock { state in
            state.requestsWritten += 1
            return state.context
        }
    }

    /// The server asked for credentials. The request goes on if its caller gives some; if not, it never ends (Foundation
    /// 6.3.1), or ends without another word to the client of its loader (6.3.2 and later).
    func noteChallenge(_ answer: RequestAnswer, of task: URLSessionTask) {
        let challenge = Challenge(answer: answer, task: task)
        state.withLock { ($0.challenge, $0.wasResumed) = (challenge, false) }
    }

    var isChallenged: Bool { state.withLock { $0.challenge != nil } }

    func noteResumed() { state.withLock { $0.wasResumed = true } }

    /// Whether nothing follows this answer, which asked for credentials, now that its loader is gone. Foundation suspends a
    /// task before it gives it another loader, and resumes it then: they are looked at in that order.
    func isOver(after answer: RequestAnswer) -> Bool {
        guard let challenge = state.withLock({ $0.challenge }), challenge.answer === answer,
            challenge.task?.state != .suspended
        else { return false }
        return state.withLock { $0.challenge === challenge && !$0.wasResumed }
    }

    /// The answer that asked for credentials, where the task has ended since: it is completed, or gone.
    var unseenEnd: RequestAnswer? {
        // A task that is held here alone is released when the lock is open.
        guard let challenge = state.withLock({ $0.challenge }) else { return nil }
        return (challenge.task?.state ?? .completed) == .completed ? challenge.answer : nil
    }

    /// Whether it is of a task that was at this one's address before. Only a task that was asked for credentials ends
    /// unseen.
    func isLeftOver(at task: URLSessionTask) -> Bool {
        guard let challenge = state.withLock({ $0.challenge }) else { return false }
        return challenge.task !== task
    }
}

/// A question for credentials.
///
/// `@unchecked Sendable` because a weak reference has to be a variable: nobody writes it but the runtime, and its loads are
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
