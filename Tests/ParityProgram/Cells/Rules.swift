import Foundation
import FoundationNetworking
import Martlet

/// Requests that a rule changes. Without the agent the server does what the rule says; with it the rule does, and the program
/// sees the same. No other cell's requests match a rule.
extension Cell {
    static let rules: [Cell] =
        ["GET", "POST", "HEAD"].flatMap { method in
            [PeerServer.Role.http, .tls].map { role in
                Cell("rule answers \(method), \(role)") { stage in
                    await stage.data(stage.session(), stage.ruled("answer", at: role, method: method))
                }
            }
        } + [
            Cell("rule answers, session delegate") { await $0.delegated($0.ruled("answer")) },
            Cell("rule answers, async with a task delegate") { stage in
                let (session, request, delegate) = (stage.session(), stage.ruled("answer"), stage.delegate())
                await stage.asynchronously(session) {
                    let (data, response) = try await session.data(for: request, delegate: delegate)
                    return "\(Bytes(data)) | \(Described.response(response))"
                }
            },
            Cell("rule answers with a large body") { await $0.data($0.session(), $0.ruled("large")) },
            Cell("rule answers without a body") { await $0.data($0.session(), $0.ruled("empty")) },
            Cell("rule answers a download, completion handler") { stage in
                let ended = Ending()
                let task = stage.session().downloadTask(
                    with: stage.ruled("answer"), completionHandler: stage.downloadHandler(ended))
                await stage.finish(task, at: ended)
            },
            Cell("rule answers a download, session delegate") { stage in
                let delegate = stage.delegate()
                let task = stage.session(delegate: delegate).downloadTask(with: stage.ruled("answer"))
                await stage.finish(task, at: delegate.completed)
            },
            Cell("rule answers a download, async") { stage in
                let (session, request) = (stage.session(), stage.ruled("answer"))
                await stage.asynchronously(session) { Downloaded.file(try await session.download(for: request).0) }
            },
            Cell("rule answers an upload, completion handler") { stage in
                let ended = Ending()
                let task = stage.session().uploadTask(
                    with: stage.ruled("answer", method: "POST"), from: Self.body,
                    completionHandler: stage.dataHandler(ended))
                await stage.finish(task, at: ended)
            },
            Cell("rule answers an upload over tls, session delegate") { stage in
                let delegate = stage.delegate()
                let task = stage.session(delegate: delegate).uploadTask(
                    with: stage.ruled("answer", at: .tls, method: "PUT"), from: Self.body)
                await stage.finish(task, at: delegate.completed)
            },
            Cell("rule answers a streamed upload") { stage in
                let delegate = stage.delegate(.init(bodyStream: { InputStream(data: Self.body) }))
                let task = stage.session(delegate: delegate).uploadTask(
                    withStreamedRequest: stage.ruled("answer", method: "POST"))
                await stage.finish(task, at: delegate.completed)
            },
            Cell("rule answers with a redirect, completion handler") {
                await $0.data($0.session(), $0.ruled("moved"))
            },
            Cell("rule answers with a redirect, session delegate") { await $0.delegated($0.ruled("moved")) },
            Cell("rule answers with a redirect that is refused") {
                await $0.delegated($0.ruled("moved"), .init(redirect: { _, _ in nil }))
            },
            Cell("rule answers with cookies") { stage in
                let session = stage.session(.ephemeral)
                await stage.data(session, stage.ruled("cookie"))
                await stage.data(session, stage.request("hello"))
            },
            Cell("rule answers with a challenge that is cancelled") {
                await $0.delegated(
                    $0.ruled("challenge"), .init(challenge: { _ in (.cancelAuthenticationChallenge, nil) }))
            },
            Cell("rule answers after the request's time-out") { stage in
                let session = stage.session()
                var request = stage.ruled("late")
                request.timeoutInterval = 1
                let limited = request
                await stage.asynchronously(session) { "\(Bytes(try await session.data(for: limited).0))" }
            },
            Cell("rule answers after the session's time-out") { stage in
                let configuration = URLSessionConfiguration.default
                configuration.timeoutIntervalForRequest = 1
                let (session, request) = (stage.session(configuration), stage.ruled("late"))
                await stage.asynchronously(session) { "\(Bytes(try await session.data(for: request).0))" }
            },
            Cell("rule answers and the request is cancelled") { stage in
                let ended = Ending()
                let task = stage.session().dataTask(
                    with: stage.ruled("late"), completionHandler: stage.dataHandler(ended))
                task.resume()
                task.cancel()
                await stage.end(task, at: ended)
            },
            Cell("rule delays, completion handler") {
                await $0.data($0.session(), $0.ruled("held"))
            },
            Cell("rule delays, session delegate") { await $0.delegated($0.ruled("held", at: .tls)) },
            Cell("rule delays over HTTP/2") { await $0.data($0.session(), $0.ruled("held", at: .http2)) },
            Cell("rule delays a download") { stage in
                let ended = Ending()
                let task = stage.session().downloadTask(
                    with: stage.ruled("held"), completionHandler: stage.downloadHandler(ended))
                await stage.finish(task, at: ended)
            },
            Cell("rule connects elsewhere") { await $0.data($0.session(), $0.ruled("elsewhere")) },
            Cell("rule connects elsewhere, upload") { stage in
                let ended = Ending()
                let task = stage.session().uploadTask(
                    with: stage.ruled("elsewhere", method: "POST"), from: Self.body,
                    completionHandler: stage.dataHandler(ended))
                await stage.finish(task, at: ended)
            },
            Cell("rule sends to another host") { await $0.data($0.session(), $0.ruled("other")) },
            Cell("rule sends to another host, session delegate") {
                await $0.delegated($0.ruled("other", method: "POST"))
            },
            Cell("rule refuses, completion handler") { await $0.data($0.session(), $0.ruled("refused", at: .nobody)) },
            Cell("rule refuses, session delegate") { await $0.delegated($0.ruled("refused", at: .nobody)) },
            Cell("rule refuses an upload") { stage in
                let ended = Ending()
                let task = stage.session().uploadTask(
                    with: stage.ruled("refused", at: .nobody, method: "POST"), from: Self.body,
                    completionHandler: stage.dataHandler(ended))
                await stage.finish(task, at: ended)
            },
            Cell("rule finds no host") { stage in
                let session = stage.session()
                await stage.asynchronously(session) {
                    let url = URL(string: "http://no-such-host.invalid/ruled/nowhere") ?? URL(fileURLWithPath: "/")
                    return "\(Bytes(try await session.data(from: url).0))"
                }
            },
            Cell("rule times out") { stage in
                let session = stage.session()
                var request = stage.ruled("time-out")
                request.timeoutInterval = 1
                let limited = request
                await stage.asynchronously(session) { "\(Bytes(try await session.data(for: limited).0))" }
            },
        ]

    private static let body = Data((0..<100_000).map { UInt8(truncatingIfNeeded: $0) })
}

extension Stage {
    fileprivate func ruled(_ name: String, at role: PeerServer.Role = .http, method: String = "GET") -> URLRequest {
        request("ruled/\(name)", at: role, method: method)
    }
}

extension PeerServer {
    /// The rules that do what the server does below `/ruled` where there is no agent.
    var rules: [MartletRule] {
        var rules: [MartletRule] = []
        func add(_ name: String, _ change: (inout MartletRule) -> Void) {
            var rule = MartletRule(name: name, match: .init(path: "/ruled/\(name)"))
            change(&rule)
            rules.append(rule)
        }
        add("answer") {
            $0.respond = .init(
                status: 503, headers: ["Content-Type": "text/plain", "Retry-After": "1"], body: Data("drill\n".utf8))
        }
        add("large") { $0.respond = .init(status: 200, body: Data(repeating: UInt8(ascii: "x"), count: 1 << 20)) }
        add("empty") { $0.respond = .init(status: 204, headers: ["ETag": "\"e\""]) }
        add("moved") { $0.respond = .init(status: 302, headers: ["Location": "/hello"], body: Data("moved\n".utf8)) }
        add("cookie") { $0.respond = .init(status: 200, headers: ["Set-Cookie": "taste=sweet; Path=/"]) }
        add("challenge") {
            $0.respond = .init(
                status: 401, headers: ["WWW-Authenticate": "Basic realm=\"parity\""], body: Data("who?\n".utf8))
        }
        add("late") {
            $0.respond = .init(status: 200)
            $0.delay = .seconds(60)
        }
        add("held") { $0.delay = .milliseconds(60) }
        add("elsewhere") { $0.connect = authority(of: .proxy) }
        add("other") { $0.redirect = URL(string: "https://\(authority(of: .tls))") }
        add("refused") { $0.block = true }
        add("nowhere") { $0.fail = .dns }
        add("time-out") { $0.fail = .timeout }
        return rules
    }
}
