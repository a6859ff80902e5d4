import Foundation
import FoundationNetworking

/// The ways of waiting for a request; each notes everything that Foundation reports. A request that does not end within
/// the limit is cancelled, and that is noted as well.
extension Stage {
    static let limit = Duration.seconds(20)
    /// The limit for a request that never ends, as on Linux after an unanswered challenge.
    static let shortLimit = Duration.milliseconds(1500)

    /// Runs a data task with a completion handler.
    func data(_ session: URLSession, _ request: URLRequest, atMost limit: Duration = Stage.limit) async {
        let ended = Ending()
        await finish(session.dataTask(with: request, completionHandler: dataHandler(ended)), at: ended, atMost: limit)
    }

    /// Runs a data task of a session with a delegate.
    func delegated(
        _ request: URLRequest, _ answers: RecordingDelegate.Answers = .init(),
        _ configuration: URLSessionConfiguration = .default, atMost limit: Duration = Stage.limit
    ) async {
        let delegate = delegate(answers)
        let task = session(configuration, delegate: delegate).dataTask(with: request)
        await finish(task, at: delegate.completed, atMost: limit)
    }

    func finish(_ task: URLSessionTask, at ended: Ending, atMost limit: Duration = Stage.limit) async {
        transcript.note("task before", Described.task(task))
        task.resume()
        await end(task, at: ended, atMost: limit)
    }

    /// Waits for a task that was resumed.
    func end(_ task: URLSessionTask, at ended: Ending, atMost limit: Duration = Stage.limit) async {
        if await !ended.wait(atMost: limit) {
            transcript.note("did not end", Described.task(task))
            task.cancel()
            if await !ended.wait(atMost: .seconds(2)) { transcript.note("did not end", "when it was cancelled either") }
        }
        await settle(task)
        transcript.note("task after", Described.task(task))
    }

    /// Waits for a task and for its session, which ends with the task and releases its delegate after a last call.
    func end(_ task: URLSessionTask, with session: URLSession, _ delegate: RecordingDelegate) async {
        if await !delegate.invalidated.wait(atMost: Stage.limit) { transcript.note("session", "not invalidated") }
        await delegateCalls(of: session)
        await end(task, at: delegate.completed)
    }

    /// Runs an async function in a task of its own, because the function may never return.
    ///
    /// It may return on one thread while a delegate is called on another. The result is noted after all those calls.
    func asynchronously(
        _ session: URLSession, atMost limit: Duration = Stage.limit,
        _ load: @escaping @Sendable () async throws -> String
    ) async {
        let ended = Ending()
        let task = Task {
            do {
                let result = try await load()
                await delegateCalls(of: session)
                transcript.note("returned", result)
            } catch {
                await delegateCalls(of: session)
                transcript.note("threw", Described.error(error))
            }
            ended.reach()
        }
        if await !ended.wait(atMost: limit) {
            transcript.note("did not end", "async")
            task.cancel()
            if await !ended.wait(atMost: .seconds(2)) { transcript.note("did not end", "when it was cancelled either") }
        }
    }

    private func delegateCalls(of session: URLSession) async {
        await withCheckedContinuation { made in session.delegateQueue.addOperation { made.resume() } }
    }

    func dataHandler(_ ended: Ending) -> @Sendable (Data?, URLResponse?, (any Error)?) -> Void {
        { [transcript] data, response, error in
            transcript.note("handler data", data.map { "\(Bytes($0))" } ?? "none")
            transcript.note("handler response", Described.response(response))
            transcript.note("handler error", Described.error(error))
            ended.reach()
        }
    }

    func downloadHandler(_ ended: Ending) -> @Sendable (URL?, URLResponse?, (any Error)?) -> Void {
        { [transcript] location, response, error in
            transcript.note("handler file", Downloaded.file(location))
            transcript.note("handler response", Described.response(response))
            transcript.note("handler error", Described.error(error))
            ended.reach()
        }
    }

    /// Waits for a task's last state, which Foundation sets, without an event, just after it has told of the task's end.
    private func settle(_ task: URLSessionTask) async {
        for _ in 0..<500 where task.state != .completed {
            try? await Task.sleep(for: .milliseconds(1))
        }
    }
}
