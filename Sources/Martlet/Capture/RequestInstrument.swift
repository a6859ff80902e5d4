#if os(Linux)
import Foundation
import FoundationNetworking
import MartletTelemetry

/// The instrument for `URLSession`: it observes requests and records them at their end. Thread-safe.
struct RequestInstrument: Sendable {
    let recorder: Recorder

    /// Puts an observer between a loader that is about to start and its client. Returns `nil` for a request that the
    /// patterns exclude or the agent made.
    func observe(_ loader: URLProtocol, of task: URLSessionTask, for client: any URLProtocolClient) -> RequestObserver?
    {
        let request = loader.request
        guard let url = request.url, recorder.settings.selection.contains(url), !isOwnUpload(task),
            !recorder.settings.decisions.ignore(.client, HTTPMethod.name(request.httpMethod ?? "GET"), .url(url))
        else {
            InFlightRequests.remove(task)
            return nil
        }
        let observation = InFlightRequests.observation(of: task)
        observation.load(request, from: url, sampler: recorder.settings.sampler)
        let sendsBody = request.httpBody != nil || request.httpBodyStream != nil || task is URLSessionUploadTask
        let observer = RequestObserver(
            of: client, loader: loader, observation: observation, sendsBody: sendsBody,
            rule: rule(for: request, url, observation), instrument: self)
        loader.client = observer
        // The task was cancelled before its start, and no other call will report it.
        if let error = task.error {
            let answer = RequestAnswer(response: nil, error: error, handle: nil, body: nil, isTimed: false)
            recordEnd(of: observation, task, with: answer, handle: nil)
        }
        return observer
    }

    /// Returns the changes that rules make to the request. Costs one load if no rule is in force.
    private func rule(
        for request: URLRequest, _ url: URL, _ observation: RequestObservation
    ) -> RuleDecision? {
        guard recorder.rules.count > 0 else { return nil }
        return observation.rule {
            recorder.rules.decision(
                for: RequestTarget(url), method: request.httpMethod ?? "GET",
                field: { request.value(forHTTPHeaderField: $0) })
        }
    }

    /// Returns whether the agent made the task: only the agent's tasks have such a delegate. Properties of a request
    /// would not survive its copies on Linux.
    private func isOwnUpload(_ task: URLSessionTask) -> Bool { task.delegate is any OwnUploadDelegate }

    /// Records a request at its end, unless it was recorded before.
    func recordEnd(
        of observation: RequestObservation, _ task: URLSessionTask, with answer: RequestAnswer, handle: EasyHandle?
    ) {
        InFlightRequests.remove(task)
        guard let finished = observation.finish() else { return }
        // If a caller cancels a challenged request, the challenge is the answer that it received.
        let isRefused = answer.error == .cancelled && finished.challenge != nil
        record(
            finished, of: task, start: observation.start, answer: isRefused ? finished.challenge ?? answer : answer,
            handle)
    }

    /// Records a request that ended without a callback, with the authentication challenge as its answer: that is what
    /// its caller received.
    func recordSilentEnd(of observation: RequestObservation, with answer: RequestAnswer) {
        guard let finished = observation.finish() else { return }
        record(finished, of: nil, start: observation.start, answer: answer, nil)
    }

    /// Counts requests that ended without a callback, and counts requests in flight for too long as hung. If a hung
    /// request ends later, it is not counted again.
    func countHung() {
        for (key, observation) in InFlightRequests.endedSilently {
            InFlightRequests.remove(observation, at: key)
            if let answer = observation.silentEnd { recordSilentEnd(of: observation, with: answer) }
        }
        for observation in InFlightRequests.hung(after: recorder.settings.hung) {
            guard observation.start.scope == nil, let finished = observation.finish() else { continue }
            let answer = RequestAnswer(hungAfter: finished.challenge)
            record(finished, of: nil, start: observation.start, answer: answer, nil)
        }
    }

    /// - Parameter task: the request's task; `nil` outside the session's queue.
    private func record(
        _ finished: FinishedRequest, of task: URLSessionTask?, start: RequestStart, answer: RequestAnswer,
        _ handle: EasyHandle?
    ) {
        // The agent that runs now records the request. The agent that was running when the request began may have been
        // shut down, and would never deliver the request.
        guard let recorder = CaptureSwitch.recorder(in: start.scope) else { return }
        let duration = answer.time &- start.monotonic
        var request = CapturedRequest(
            method: HTTPMethod.name(finished.original.httpMethod ?? "GET"), destination: .url(finished.url),
            status: answer.status, error: answer.errorName, start: start.wall, durationNanoseconds: duration)
        (request.rule, request.httpVersion) = (finished.rule, handle?.httpVersion)
        if let figures = answer.figures {
            request.bytesSent = figures.bytesSent
            request.bytesReceived = figures.bytesReceived
            request.phases = figures.phases(ofRequestTaking: duration)
        }
        if recorder.reserveDetails(
            isSampled: finished.context.isSampled, isFailure: request.outcome.isFailure(for: .client),
            nanoseconds: duration)
        {
            let details = RequestDetails(
                of: request, finished, task: task, answer: answer, parent: start.parent,
                contents: recorder.settings.contents, handle: handle)
            request.detailBytes = details.bytes
            request.makeSpan = { details.span($0) }
        }
        recorder.record(request)
    }
}
#endif
