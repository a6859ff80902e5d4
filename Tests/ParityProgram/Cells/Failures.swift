import Foundation
import FoundationNetworking

/// Everything that goes wrong on the way.
extension Cell {
    static let failures: [Cell] =
        broken.map { path in Cell("failure \(path)") { await $0.data($0.session(), $0.request(path)) } }
        + broken.map { path in Cell("failure \(path), session delegate") { await $0.delegated($0.request(path)) } }
        + ["closed-before-answer", "closed-in-body", "reset", "nonsense"].map { path in
            Cell("failure \(path) over tls") { await $0.data($0.session(), $0.request(path, at: .tls)) }
        }
        + [
            Cell("failure in the body: reset") {
                let server = $0.server
                await $0.delegated($0.request("reset-in-body"), .init(data: { _ in server.go() }))
            },
            Cell("failure: connection refused") { await $0.data($0.session(), $0.request("", at: .nobody)) },
            Cell("failure: connection refused, session delegate") { await $0.delegated($0.request("", at: .nobody)) },
            Cell("failure: connection refused, async") { stage in
                let (session, request) = (stage.session(), stage.request("", at: .nobody))
                await stage.asynchronously(session) { try await "\(Bytes(session.data(for: request).0))" }
            },
            Cell("failure: connection refused, download") { stage in
                let ended = Ending()
                let task = stage.session().downloadTask(
                    with: stage.request("", at: .nobody), completionHandler: stage.downloadHandler(ended))
                await stage.finish(task, at: ended)
            },
            Cell("failure: connection refused, upload") { stage in
                let ended = Ending()
                let task = stage.session().uploadTask(
                    with: stage.request("", at: .nobody, method: "POST"), from: Data("a body".utf8),
                    completionHandler: stage.dataHandler(ended))
                await stage.finish(task, at: ended)
            },
            Cell("failure: no such host") { await $0.load("http://no-such-host.invalid/") },
            Cell("failure: no such scheme") { await $0.load("gopher-2://127.0.0.1/") },
            Cell("failure: scheme in upper case") { stage in
                await stage.load(stage.request("hello").url.map { "HTTP" + $0.absoluteString.dropFirst(4) } ?? "")
            },
            Cell("failure: no host") { await $0.load("http:///path") },
            Cell("failure: file to upload is missing") { stage in
                let ended = Ending()
                let task = stage.session().uploadTask(
                    with: stage.request("echo", method: "POST"), fromFile: URL(fileURLWithPath: "/no/such/file"),
                    completionHandler: stage.dataHandler(ended))
                await stage.finish(task, at: ended)
            },
            Cell("failure: certificate not trusted") {
                await $0.data($0.session(), $0.request("hello", at: .untrusted))
            },
            Cell("failure: certificate not trusted, session delegate") {
                await $0.delegated($0.request("hello", at: .untrusted))
            },
            Cell("failure: TLS to a plain server") { stage in
                await stage.load("https://\(stage.server.authority(of: .ftp))/")
            },
            Cell("time-out of the request") { stage in
                var request = stage.request("hang")
                request.timeoutInterval = 1
                await stage.data(stage.session(), request)
            },
            Cell("time-out of the request, session delegate") { stage in
                var request = stage.request("hang")
                request.timeoutInterval = 1
                await stage.delegated(request)
            },
            Cell("time-out of the session's requests") { stage in
                let configuration = URLSessionConfiguration.default
                configuration.timeoutIntervalForRequest = 1
                await stage.data(stage.session(configuration), stage.request("hang"))
            },
            Cell("time-out in the body") { stage in
                let configuration = URLSessionConfiguration.default
                configuration.timeoutIntervalForRequest = 1
                await stage.delegated(stage.request("halves"), .init(), configuration)
            },
            // Foundation on Linux does not enforce this time-out.
            Cell("time-out of the resource") { stage in
                let configuration = URLSessionConfiguration.default
                configuration.timeoutIntervalForResource = 0.3
                await stage.data(stage.session(configuration), stage.request("hang"), atMost: Stage.shortLimit)
            },
        ]

    private static let broken = [
        "closed-in-body", "closed-in-chunk", "closed-before-answer", "reset", "nonsense", "bad-chunk", "bad-length",
        "bad-gzip",
    ]
}

extension Stage {
    fileprivate func load(_ text: String) async {
        guard let url = URL(string: text) else { return transcript.note("no URL", text) }
        await data(session(), URLRequest(url: url))
    }
}
