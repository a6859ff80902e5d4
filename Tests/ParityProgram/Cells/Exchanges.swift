import Foundation
import FoundationNetworking

/// The answers of a server, over every protocol of the matrix.
///
/// Trailers after a chunked body are left out: with or without an agent, they make Foundation end the process ("Transfer
/// completed, but there's no response").
///
/// A body of 100 MB goes each way, in the styles that do not depend on its chunks.
extension Cell {
    static let exchanges: [Cell] =
        answers.map { path in Cell("answer \(path)") { await $0.data($0.session(), $0.request(path)) } }
        + answers.map { path in Cell("answer \(path), session delegate") { await $0.delegated($0.request(path)) } }
        + [PeerServer.Role.tls, .http2].flatMap { role in
            [
                Cell("GET over \(role.rawValue)") { await $0.data($0.session(), $0.request("hello", at: role)) },
                Cell("GET over \(role.rawValue), session delegate") {
                    await $0.delegated($0.request("hello", at: role))
                },
                Cell("POST over \(role.rawValue)") { stage in
                    var request = stage.request("echo", at: role, method: "POST")
                    request.httpBody = Data("a body".utf8)
                    await stage.data(stage.session(), request)
                },
                Cell("slow POST over \(role.rawValue)") { stage in
                    var request = stage.request("slow", at: role, method: "POST")
                    request.httpBody = Data(count: 1_000_000)
                    await stage.data(stage.session(), request)
                },
                Cell("challenge over \(role.rawValue)") { stage in
                    let credential = URLCredential(user: "user", password: "secret", persistence: .none)
                    await stage.delegated(
                        stage.request("basic", at: role), .init(challenge: { _ in (.useCredential, credential) }))
                },
                Cell("redirect over \(role.rawValue)") {
                    await $0.data($0.session(), $0.request("redirect?status=302&to=/hello", at: role))
                },
                Cell("connection kept alive over \(role.rawValue)") { stage in
                    let session = stage.session()
                    for number in 1...2 { await stage.data(session, stage.request("hello?number=\(number)", at: role)) }
                },
                Cell("download over \(role.rawValue)") { stage in
                    let ended = Ending()
                    let task = stage.session().downloadTask(
                        with: stage.request("big?bytes=1000000", at: role),
                        completionHandler: stage.downloadHandler(ended))
                    await stage.finish(task, at: ended)
                },
            ]
        } + [
            Cell("HEAD") { await $0.data($0.session(), $0.request("hello", method: "HEAD")) },
            Cell("HEAD, session delegate") { await $0.delegated($0.request("hello", method: "HEAD")) },
            Cell("100 MB, data") { await $0.data($0.session(), $0.request("big?bytes=100000000")) },
            Cell("100 MB, download") { stage in
                let ended = Ending()
                let task = stage.session().downloadTask(
                    with: stage.request("big?bytes=100000000"), completionHandler: stage.downloadHandler(ended))
                await stage.finish(task, at: ended)
            },
            Cell("100 MB, upload from file") { stage in
                let file = FileManager.default.temporaryDirectory.appendingPathComponent("parity-100-MB")
                try Data(count: 100_000_000).write(to: file)
                let ended = Ending()
                let task = stage.session().uploadTask(
                    with: stage.request("echo", method: "PUT"), fromFile: file,
                    completionHandler: stage.dataHandler(ended))
                await stage.finish(task, at: ended)
                try FileManager.default.removeItem(at: file)
            },
            Cell("connection kept alive") { stage in
                let session = stage.session()
                for number in 1...3 { await stage.data(session, stage.request("hello?number=\(number)")) }
            },
            Cell("connection closed by the server between requests") { stage in
                let session = stage.session()
                for _ in 1...2 { await stage.data(session, stage.request("close")) }
            },
        ]

    private static let answers = [
        "hello", "empty", "chunked", "until-close", "http10", "gzip", "large-headers", "repeated-headers",
        "early-hints", "status/204", "status/304", "status/404", "status/500", "status/599",
    ]
}
