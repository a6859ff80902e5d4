import Foundation
import FoundationNetworking
import Synchronization

/// Tasks cancelled and suspended, before, during and after.
extension Cell {
    static let interruptions: [Cell] = [
        Cell("cancelled before resume, completion handler") { stage in
            let ended = Ending()
            let task = stage.session().dataTask(
                with: stage.request("hello"), completionHandler: stage.dataHandler(ended))
            await stage.cancel(task, endingAt: ended)
        },
        Cell("cancelled before resume, session delegate") { stage in
            let delegate = stage.delegate()
            let task = stage.session(delegate: delegate).dataTask(with: stage.request("hello"))
            await stage.cancel(task, endingAt: delegate.completed)
        },
        Cell("cancelled while the head is awaited, completion handler") { stage in
            let ended = Ending()
            let task = stage.session().dataTask(
                with: stage.request("hang"), completionHandler: stage.dataHandler(ended))
            await stage.cancelAtServer(task, endingAt: ended)
        },
        Cell("cancelled while the head is awaited, session delegate") { stage in
            let delegate = stage.delegate()
            let task = stage.session(delegate: delegate).dataTask(with: stage.request("hang"))
            await stage.cancelAtServer(task, endingAt: delegate.completed)
        },
        Cell("cancelled during the body, data") {
            await $0.delegated($0.request("halves"), .init(data: { $0.cancel() }))
        },
        Cell("cancelled during the body, download") { stage in
            let delegate = stage.delegate(.init(data: { $0.cancel() }))
            let task = stage.session(delegate: delegate).downloadTask(with: stage.request("halves"))
            await stage.finish(task, at: delegate.completed)
        },
        Cell("cancelled during the body, with resume data") { stage in
            let transcript = stage.transcript
            let delegate = stage.delegate(
                .init(data: { task in
                    (task as? URLSessionDownloadTask)?.cancel { transcript.note("resume data", $0?.count ?? -1) }
                }))
            let task = stage.session(delegate: delegate).downloadTask(with: stage.request("halves"))
            await stage.finish(task, at: delegate.completed)
        },
        Cell("cancelled by its session") { stage in
            let delegate = stage.delegate(.init(data: { _ in stage.cancelSessions() }))
            let session = stage.session(delegate: delegate)
            let task = session.dataTask(with: stage.request("halves"))
            task.resume()
            await stage.end(task, with: session, delegate)
        },
        Cell("cancelled by its progress") {
            await $0.delegated($0.request("halves"), .init(data: { $0.progress.cancel() }))
        },
        Cell("cancelled by its Swift task") { stage in
            let received = Ending()
            let delegate = stage.delegate(.init(data: { _ in received.reach() }))
            let (session, request) = (stage.session(), stage.request("halves"))
            await stage.asynchronously(session) {
                let load = Task { try await Bytes(session.data(for: request, delegate: delegate).0).description }
                _ = await received.wait(atMost: Stage.limit)
                load.cancel()
                return try await load.value
            }
        },
        Cell("cancelled after the end") { stage in
            let delegate = stage.delegate()
            let task = stage.session(delegate: delegate).dataTask(with: stage.request("hello"))
            await stage.finish(task, at: delegate.completed)
            task.cancel()
            stage.transcript.note("task after cancel", Described.task(task))
        },
        Cell("cancelled twice") {
            await $0.delegated(
                $0.request("halves"),
                .init(data: {
                    $0.cancel()
                    $0.cancel()
                }))
        },
        Cell("suspended before resume") { stage in
            let delegate = stage.delegate()
            let task = stage.session(delegate: delegate).dataTask(with: stage.request("hello"))
            task.suspend()
            task.resume()
            stage.transcript.note("suspended", Described.task(task))
            await stage.finish(task, at: delegate.completed)
        },
        Cell("resumed twice") { stage in
            // The answer waits for the second call, which would otherwise find a task that has ended.
            let (server, first) = (stage.server, Once())
            let delegate = stage.delegate(.init(data: { _ in if !first.isFirst() { server.go() } }))
            let task = stage.session(delegate: delegate).dataTask(with: stage.request("halves"))
            task.resume()
            task.resume()
            if !first.isFirst() { server.go() }
            await stage.end(task, at: delegate.completed)
        },
        // Foundation on Linux makes the request once more, from its beginning.
        Cell("suspended during the body") { stage in
            let (server, suspended, isSuspended) = (stage.server, Ending(), Once())
            let delegate = stage.delegate(
                .init(data: { task in
                    guard isSuspended.isFirst() else { return server.go() }
                    task.suspend()
                    suspended.reach()
                }))
            let task = stage.session(delegate: delegate).dataTask(with: stage.request("halves"))
            task.resume()
            _ = await suspended.wait(atMost: Stage.limit)
            stage.transcript.note("suspended", Described.task(task))
            task.resume()
            await stage.end(task, at: delegate.completed)
        },
        Cell("priority and description") { stage in
            let delegate = stage.delegate()
            let task = stage.session(delegate: delegate).dataTask(with: stage.request("hello"))
            task.priority = URLSessionTask.highPriority
            task.taskDescription = "mine"
            await stage.finish(task, at: delegate.completed)
        },
    ]
}

/// Distinguishes the first caller from all others.
private final class Once: Sendable {
    private let isTaken = Atomic<Bool>(false)

    func isFirst() -> Bool { !isTaken.exchange(true, ordering: .relaxed) }
}

extension Stage {
    fileprivate func cancel(_ task: URLSessionTask, endingAt ended: Ending) async {
        task.cancel()
        await end(task, at: ended)
        task.resume()
        transcript.note("task after resume", Described.task(task))
    }

    /// Cancels a task when the server has its request.
    fileprivate func cancelAtServer(_ task: URLSessionTask, endingAt ended: Ending) async {
        task.resume()
        server.awaitRequest()
        task.cancel()
        await end(task, at: ended)
    }

    fileprivate func cancelSessions() { forEachSession { $0.invalidateAndCancel() } }
}
