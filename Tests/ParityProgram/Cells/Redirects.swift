import Foundation
import FoundationNetworking

/// Redirects followed, refused, rewritten, and without end.
extension Cell {
    static let redirects: [Cell] =
        [301, 302, 303, 307, 308].flatMap { status in
            ["GET", "POST", "PUT"].map { method in
                Cell("redirect \(status) of \(method)") { stage in
                    await stage.data(stage.session(), stage.redirected(status, method: method))
                }
            }
        } + [
            Cell("redirect followed by a session delegate") { await $0.delegated($0.redirected(302, method: "POST")) },
            Cell("redirect followed, async with a task delegate") { stage in
                let (session, request, delegate) = (stage.session(), stage.redirected(307), stage.delegate())
                await stage.asynchronously(session) {
                    try await "\(Bytes(session.data(for: request, delegate: delegate).0))"
                }
            },
            Cell("redirect followed, task with a delegate of its own") { await $0.redirectedTask() },
            Cell("redirect refused by a task's delegate") {
                await $0.redirectedTask(.init(redirect: { _, _ in nil }))
            },
            Cell("redirect rewritten by a task's delegate") {
                let other = $0.request("hello?rewritten=1", method: "PUT")
                await $0.redirectedTask(.init(redirect: { _, _ in other }))
            },
            Cell("redirect followed by a download") { stage in
                let ended = Ending()
                let task = stage.session().downloadTask(
                    with: stage.redirected(302), completionHandler: stage.downloadHandler(ended))
                await stage.finish(task, at: ended)
            },
            Cell("redirect refused by a session delegate") {
                await $0.delegated($0.redirected(302), .init(redirect: { _, _ in nil }))
            },
            Cell("redirect rewritten by a session delegate") {
                let other = $0.request("hello?rewritten=1", method: "PUT")
                await $0.delegated($0.redirected(302), .init(redirect: { _, _ in other }))
            },
            Cell("redirect to another host") { stage in
                let target = stage.url("echo", at: .tls).absoluteString
                await stage.data(stage.session(), stage.request("redirect?status=302&to=\(target)"))
            },
            Cell("redirect without end, completion handler") { await $0.data($0.session(), $0.request("loop")) },
            Cell("redirect without end, session delegate") { await $0.delegated($0.request("loop")) },
            Cell("redirect without a location") { await $0.data($0.session(), $0.request("status/302")) },
        ]
}

extension Stage {
    fileprivate func redirected(_ status: Int, method: String = "GET") -> URLRequest {
        var request = request("redirect?status=\(status)&to=/echo?q=1", method: method)
        if method != "GET" { request.httpBody = Data("the body".utf8) }
        return request
    }

    /// Runs a task with a delegate of its own and a completion handler.
    fileprivate func redirectedTask(_ answers: RecordingDelegate.Answers = .init()) async {
        let ended = Ending()
        let task = session().dataTask(with: redirected(302), completionHandler: dataHandler(ended))
        task.delegate = delegate(answers)
        await finish(task, at: ended)
    }
}
