import Foundation
import FoundationNetworking

/// Challenges answered, refused, and left unanswered.
///
/// The cells leave out a storage with a credential where no delegate is asked first: with or without an agent, Foundation
/// then deadlocks, because it suspends the task on the task's own queue. Foundation raises a challenge only for the scheme
/// Basic, and none for TLS.
extension Cell {
    static let challenges: [Cell] = [
        Cell("challenge answered by a session delegate") {
            await $0.delegated($0.request("basic"), .init(challenge: { _ in (.useCredential, .right) }))
        },
        Cell("challenge answered by a delegate, upload") { stage in
            let delegate = stage.delegate(.init(challenge: { _ in (.useCredential, .right) }))
            let task = stage.session(delegate: delegate)
                .uploadTask(with: stage.request("basic", method: "POST"), from: Data("a body".utf8))
            await stage.finish(task, at: delegate.completed)
        },
        Cell("challenge answered, async with a task delegate's session") { stage in
            let delegate = stage.delegate(.init(challenge: { _ in (.useCredential, .right) }))
            let (session, request) = (stage.session(delegate: delegate), stage.request("basic"))
            await stage.asynchronously(session) { try await "\(Bytes(session.data(for: request).0))" }
        },
        Cell("challenge answered wrongly, then cancelled") {
            await $0.delegated(
                $0.request("basic"),
                .init(challenge: {
                    $0.previousFailureCount < 2 ? (.useCredential, .wrong) : (.cancelAuthenticationChallenge, nil)
                }))
        },
        Cell("challenge answered wrongly, then rightly") {
            await $0.delegated(
                $0.request("basic"),
                .init(challenge: { (.useCredential, $0.previousFailureCount == 0 ? .wrong : .right) }))
        },
        Cell("challenge refused: cancelled") {
            await $0.delegated(
                $0.request("basic"), .init(challenge: { _ in (.cancelAuthenticationChallenge, nil) }))
        },
        Cell("challenge refused: protection space rejected") {
            await $0.delegated($0.request("basic"), .init(challenge: { _ in (.rejectProtectionSpace, nil) }))
        },
        Cell("challenge handled by default, session delegate") {
            await $0.delegated($0.request("basic"), atMost: Stage.shortLimit)
        },
        Cell("challenge handled by default, task delegate alone") { stage in
            let delegate = stage.delegate()
            let task = stage.session().dataTask(with: stage.request("basic"))
            task.delegate = delegate
            await stage.finish(task, at: delegate.completed, atMost: Stage.shortLimit)
        },
        Cell("challenge answered wrongly twice, then handled by default") {
            await $0.delegated(
                $0.request("basic"),
                .init(challenge: {
                    $0.previousFailureCount < 2 ? (.useCredential, .wrong) : (.performDefaultHandling, nil)
                }), atMost: Stage.shortLimit)
        },
        Cell("challenge refused: cancelled, upload") { stage in
            let delegate = stage.delegate(.init(challenge: { _ in (.cancelAuthenticationChallenge, nil) }))
            let task = stage.session(delegate: delegate)
                .uploadTask(with: stage.request("basic", method: "POST"), from: Data("a body".utf8))
            await stage.finish(task, at: delegate.completed)
        },
        Cell("challenge refused: cancelled, async") { stage in
            let delegate = stage.delegate(.init(challenge: { _ in (.cancelAuthenticationChallenge, nil) }))
            let (session, request) = (stage.session(delegate: delegate), stage.request("basic"))
            await stage.asynchronously(session) { try await "\(Bytes(session.data(for: request).0))" }
        },
        Cell("challenge unanswered, completion handler") {
            await $0.data($0.session(), $0.request("basic"), atMost: Stage.shortLimit)
        },
        Cell("challenge unanswered, async") { stage in
            let (session, request) = (stage.session(), stage.request("basic"))
            await stage.asynchronously(session, atMost: Stage.shortLimit) {
                try await "\(Bytes(session.data(for: request).0))"
            }
        },
        Cell("challenge unanswered, neither delegate nor handler") { stage in
            let task = stage.session().dataTask(with: stage.request("basic"))
            await stage.finish(task, at: Ending(), atMost: Stage.shortLimit)
        },
        Cell("challenge unanswered, upload") { stage in
            let ended = Ending()
            let task = stage.session().uploadTask(
                with: stage.request("basic", method: "POST"), from: Data("a body".utf8),
                completionHandler: stage.dataHandler(ended))
            await stage.finish(task, at: ended, atMost: Stage.shortLimit)
        },
        Cell("challenge unanswered, download") { stage in
            let ended = Ending()
            let task = stage.session().downloadTask(
                with: stage.request("basic"), completionHandler: stage.downloadHandler(ended))
            await stage.finish(task, at: ended, atMost: Stage.shortLimit)
        },
        Cell("challenge unanswered, no storage of credentials") { stage in
            let configuration = URLSessionConfiguration.ephemeral
            configuration.urlCredentialStorage = nil
            await stage.data(stage.session(configuration), stage.request("basic"), atMost: Stage.shortLimit)
        },
        // On Linux a protection space equals only itself, so a storage never finds the space of a response.
        Cell("challenge with a credential in the session's storage") { stage in
            let configuration = URLSessionConfiguration.ephemeral
            let request = stage.request("basic")
            let space = URLProtectionSpace(
                host: "127.0.0.1", port: request.url?.port ?? 0, protocol: "http", realm: "parity",
                authenticationMethod: NSURLAuthenticationMethodHTTPBasic)
            configuration.urlCredentialStorage?.setDefaultCredential(.right, for: space)
            await stage.data(stage.session(configuration), request, atMost: Stage.shortLimit)
        },
        Cell("challenge handled by default, with a credential proposed") { stage in
            let configuration = URLSessionConfiguration.ephemeral
            configuration.urlCredentialStorage = Storage(.right)
            await stage.delegated(stage.request("basic"), .init(), configuration)
        },
        Cell("challenge handled by default, with a wrong credential proposed") { stage in
            let configuration = URLSessionConfiguration.ephemeral
            configuration.urlCredentialStorage = Storage(.wrong)
            await stage.delegated(stage.request("basic"), .init(), configuration, atMost: Stage.shortLimit)
        },
        Cell("challenge with credentials in the URL") { stage in
            let url = stage.url("basic").absoluteString.replacing("http://", with: "http://user:secret@")
            guard let url = URL(string: url) else { return }
            await stage.data(stage.session(), URLRequest(url: url), atMost: Stage.shortLimit)
        },
        Cell("challenge answered ahead by a header") { stage in
            var request = stage.request("basic")
            request.setValue("Basic dXNlcjpzZWNyZXQ=", forHTTPHeaderField: "Authorization")
            await stage.data(stage.session(), request)
        },
        Cell("digest challenge, session delegate") {
            await $0.delegated($0.request("digest"), .init(challenge: { _ in (.useCredential, .right) }))
        },
        Cell("digest challenge, completion handler") { await $0.data($0.session(), $0.request("digest")) },
        Cell("digest challenge with one of Basic behind it") {
            await $0.delegated($0.request("digest/or-basic"), .init(challenge: { _ in (.useCredential, .right) }))
        },
        Cell("certificate asked for by the server") {
            await $0.delegated($0.request("hello", at: .certified), .init(challenge: { _ in (.useCredential, .right) }))
        },
        Cell("certificate asked for by the server, completion handler") {
            await $0.data($0.session(), $0.request("hello", at: .certified))
        },
        Cell("certificate not trusted, session delegate") {
            await $0.delegated($0.request("hello", at: .untrusted), .init(challenge: { _ in (.useCredential, nil) }))
        },
        Cell("401 without a challenge") { await $0.data($0.session(), $0.request("unauthorized")) },
        Cell("407 of a server") { await $0.data($0.session(), $0.request("proxy-unauthorized")) },
    ]
}

extension URLCredential {
    fileprivate static var right: URLCredential { credential(password: "secret") }
    fileprivate static var wrong: URLCredential { credential(password: "guess") }

    private static func credential(password: String) -> URLCredential {
        URLCredential(user: "user", password: password, persistence: .forSession)
    }
}

/// A storage with one credential for all requests.
private final class Storage: URLCredentialStorage, @unchecked Sendable {
    private let credential: URLCredential

    init(_ credential: URLCredential) {
        self.credential = credential
        super.init()
    }

    override func credentials(for space: URLProtectionSpace) -> [String: URLCredential]? { ["user": credential] }
}
