#if os(Linux)
import Foundation
import FoundationNetworking
import MartletTelemetry

/// What the agent makes of the requests of `URLSession`. Thread-safe.
struct RequestInstrument: Sendable {
    let recorder: Recorder

    /// Puts an observer between a loader that is about to start and its client; `nil` where it is not to be seen.
    func observe(_ loader: URLProtocol, of task: URLSessionTask, for client: any URLProtocolClient) -> RequestObserver?
    {
        let request = loader.request
        guard let url = request.url, recorder.settings.selection.contains(url), !isOwnUpload(task) else {
            InFlightRequests.remove(task)
            return nil
        }
        let observation = InFlightRequests.observation(of: task)
        observation.begin(request, to: url, sampler: recorder.settings.sampler)
        let sendsBody = request.httpBody != nil || request.httpBodyStream != nil || task is URLSessionUploadTask
        let observer = RequestObserver(
            of: client, loader: loader, observation: observation, sendsBody: sendsBody, instrument: self)
        loader.client = observer
        // A cancel came ahead of the start: this is all that will be heard of it.
        if let error = task.error {
            let answer = RequestAnswer(response: nil, error: error, handle: nil, body: nil, isTimed: false)
            end(observation, of: task, with: answer, handle: nil)
        }
        return observer
    }

    /// Told by its delegate, which nobody else can have: properties of a request do not survive its copies on Linux.
    private func isOwnUpload(_ task: URLSessionTask) -> Bool { task.delegate is OwnUploadDelegate }

    func end(
        _ observation: RequestObservation, of task: URLSessionTask, with answer: RequestAnswer, handle: EasyHandle?
    ) {
        InFlightRequests.remove(task)
        guard let end = observation.end() else { return }
        // Whoever takes back a request that was asked for credentials has had its answer.
        let isRefused = answer.error == .cancelled && end.challenged != nil
        record(end, of: task, start: observation.start, answer: isRefused ? end.challenged ?? answer : answer, handle)
    }

    /// A request that was asked for credentials ended with that answer, which is what its caller got.
    func endUnseen(_ observation: RequestObservation, with answer: RequestAnswer) {
        guard let end = observation.end() else { return }
        record(end, of: nil, start: observation.start, answer: answer, nil)
    }

    /// Counts requests that ended unseen, and those that are in flight for too long. What becomes of these later is not
    /// counted again.
    func countHung() {
        for (key, observation) in InFlightRequests.endedUnseen {
            InFlightRequests.remove(observation, at: key)
            if let answer = observation.unseenEnd { endUnseen(observation, with: answer) }
        }
        for observation in InFlightRequests.hung(after: recorder.settings.hung) {
            guard observation.start.scope == nil, let end = observation.end() else { continue }
            let answer = RequestAnswer(hungAfter: end.challenged)
            record(end, of: nil, start: observation.start, answer: answer, nil)
        }
    }

    /// - Parameter task: `nil` anywhere else than on its queue.
    private func record(
        _ end: RequestObservation.End, of task: URLSessionTask?, start: RequestStart, answer: RequestAnswer,
        _ handle: EasyHandle?
    ) {
        // The agent that runs now: the one that saw the request begin may have been shut down, and would keep it.
        guard let recorder = CaptureSwitch.recorder(in: start.scope) else { return }
        let duration = answer.time &- start.monotonic
        var request = CapturedRequest(
            method: HTTPMethod.name(end.request.httpMethod ?? "GET"), destination: .url(end.url), status: answer.status,
            error: answer.errorName, start: start.wall, durationNanoseconds: duration)
        if let figures = answer.figures {
            request.bytesSent = figures.bytesSent
            request.bytesReceived = figures.bytesReceived
            request.phases = figures.phases(ofRequestTaking: duration)
        }
        if recorder.keepsDetails(
            isSampled: end.context.isSampled, isFailure: request.outcome.isFailure(for: .client), nanoseconds: duration)
        {
            let details = RequestDetails(
                of: request, end, task: task, answer: answer, parent: start.parent,
                contents: recorder.settings.contents, handle: handle)
            request.detailBytes = details.bytes
            request.makeSpan = { details.span($0) }
        }
        recorder.record(request)
    }
}
#endif
