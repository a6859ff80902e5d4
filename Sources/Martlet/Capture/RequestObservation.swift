#if os(Linux)
import CMartletHooks
import Foundation
import FoundationNetworking
import MartletTelemetry
import Synchronization

/// A task's request from `resume` to its end, across all its hops, loaders and challenges. Thread-safe: it begins on
/// the caller's thread and continues on the session's queue, and the agent's thread reads its age.
final class RequestObservation: LockedObject<ObservationState>, @unchecked Sendable {
    let start: RequestStart
    private let process = martlet_process()

    init(_ start: RequestStart = RequestStart()) {
        self.start = start
        super.init(state: ObservationState())
    }

    /// Whether the observation began in this process. `false` in a forked child for a request that was in flight at the
    /// fork: the request and its lock belong to the parent.
    var belongsToThisProcess: Bool { process == martlet_process() }

    /// Whether the task was resumed and no loader has started.
    var isResumed: Bool { withState { $0.isResumed } }

    /// Whether a loader has started and the request has not ended.
    var isLoading: Bool { withState { $0.isLoading } }

    /// Whether the request began in a scope that has ended. Its task may have ended without a callback, so another task
    /// may have its address now.
    var belongsToEndedScope: Bool { start.scope?.hasEnded ?? false }

    /// Notes that a loader starts with the request. Only the first loader has an effect: a loader after a challenge
    /// continues the same request.
    func load(_ request: URLRequest, from url: URL, sampler: TraceSampler) {
        let isFirst = withState { $0.load(request, from: url, in: sampler.span(childOf: start.parent)) }
        guard isFirst else { return }
        start.enclosing?.noteRequest(.client)
        guard RequestSlot.isKept else { return }
        let target = RequestTarget(url)
        let name = "\(HTTPMethod.name(request.httpMethod ?? "GET")) \(target.host)\(target.path)"
        withState { $0.slot = RequestSlot(.client, start: start.wall, name: name) }
    }

    /// A request may be forgotten without an end.
    deinit {
        if belongsToThisProcess { withState { $0.slot.end() } }
    }

    /// Returns the changes that rules make to the request, the same for all its loaders; `nil` for none.
    ///
    /// - Parameter decide: makes the decision. It is called only once.
    func rule(_ decide: () -> RuleDecision?) -> RuleDecision? {
        if let decided = withState({ $0.rule }) { return decided }
        let decision = decide()
        return withState { state in
            state.rule = .some(decision)
            return decision
        }
    }

    /// Notes that no rule changed the request after all.
    func forgetRule() { withState { $0.rule = .some(nil) } }

    /// Ends the request and returns its values; `nil` if it has already ended, or no loader has started. A cancelled
    /// task fails twice, through its loader and through its session.
    func finish() -> FinishedRequest? { withState { $0.finish() } }

    /// Counts a request that libcurl is about to write. Returns the request's trace context; `nil` before a loader
    /// starts.
    func noteRequestWritten() -> TraceContext? {
        withState { state in
            state.requestsWritten += 1
            return state.context
        }
    }
}

// MARK: - Challenges

extension RequestObservation {
    /// Notes an authentication challenge. If the caller answers it, the request continues. Otherwise it never ends
    /// (Foundation 6.3.1), or ends without another call to its loader's client (6.3.2 and later).
    func noteChallenge(_ answer: RequestAnswer, of task: URLSessionTask) {
        let challenge = Challenge(answer: answer, task: task)
        withState { ($0.challenge, $0.wasResumed) = (challenge, false) }
    }

    func noteResumed() { withState { $0.wasResumed = true } }

    /// Whether the request may be waiting for a loader: no loader has started yet, or it was challenged.
    var mayWaitForLoader: Bool { withState { $0.challenge != nil || $0.isResumed } }

    /// The answer with the authentication challenge, if its task has since completed or been released; `nil` otherwise.
    var silentEnd: RequestAnswer? {
        // The task is loaded outside the lock: this may be its last reference, whose release could run other code.
        guard let challenge = withState({ $0.challenge }) else { return nil }
        return (challenge.task?.state ?? .completed) == .completed ? challenge.answer : nil
    }

    /// Returns whether the challenged request ended without a callback, now that its loader is gone. Foundation
    /// suspends a task, gives it another loader and resumes it. So this first reads whether the task is suspended, and
    /// then whether it was resumed.
    func endedSilently(with answer: RequestAnswer) -> Bool {
        guard let challenge = withState({ $0.challenge }), challenge.answer === answer,
            challenge.task?.state != .suspended
        else { return false }
        return withState { $0.challenge === challenge && !$0.wasResumed }
    }

    /// Returns whether the request belongs to an earlier task at the address of `task`. Only a challenged task ends
    /// without a callback.
    func isStale(at task: URLSessionTask) -> Bool {
        guard let challenge = withState({ $0.challenge }) else { return false }
        return challenge.task !== task
    }
}

// MARK: - States

/// The state of a ``RequestObservation``.
struct ObservationState {
    /// The progress of a request. Each case follows the previous one, once.
    private enum Progress {
        /// The task was resumed, and no loader has started.
        case resumed
        /// A loader started with this request, which the first loader gave.
        case loading(URLRequest, URL, TraceContext)
        /// The request was recorded. A request that was counted as hung may still be loading.
        case finished(TraceContext)
    }

    private var progress = Progress.resumed
    /// The number of requests that libcurl wrote: more than one after a redirect or an answered challenge.
    var requestsWritten = 0
    /// The last authentication challenge; `nil` if there was none. A request that was counted as hung may be
    /// challenged too.
    fileprivate var challenge: Challenge?
    /// The decision of the rules; `nil` before there is one.
    var rule: RuleDecision??
    /// The request in the process's record, from its first loader on.
    fileprivate var slot = RequestSlot.none
    /// Whether the task was resumed after the challenge. Foundation resumes it once it has credentials.
    var wasResumed = false

    var isResumed: Bool { if case .resumed = progress { true } else { false } }

    var isLoading: Bool { if case .loading = progress { true } else { false } }

    /// The trace context of the request; `nil` before a loader starts.
    var context: TraceContext? {
        switch progress {
        case .resumed: nil
        case .loading(_, _, let context), .finished(let context): context
        }
    }

    /// Moves a `resumed` request to `loading`. Returns whether it did.
    mutating func load(_ request: URLRequest, from url: URL, in context: @autoclosure () -> TraceContext) -> Bool {
        guard case .resumed = progress else { return false }
        progress = .loading(request, url, context())
        return true
    }

    /// Moves a `loading` request to `finished` and returns it; `nil` in any other case.
    mutating func finish() -> FinishedRequest? {
        guard case .loading(let request, let url, let context) = progress else { return nil }
        progress = .finished(context)
        slot.end()
        return FinishedRequest(
            original: request, url: url, context: context, resends: max(0, requestsWritten - 1),
            challenge: challenge?.answer, rule: (rule ?? nil)?.name)
    }
}

/// An authentication challenge.
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

/// A request at its end, with the values for its record.
struct FinishedRequest {
    /// The request as its first loader had it, before redirects and challenges.
    let original: URLRequest
    let url: URL
    let context: TraceContext
    /// The attribute `http.request.resend_count`: the requests that libcurl wrote after the first.
    let resends: Int
    /// The last authentication challenge; `nil` if there was none.
    let challenge: RequestAnswer?
    /// The name of the rule that changed the request; `nil` for none.
    var rule: String?
}
#endif
