import Foundation
import FoundationNetworking
import Martlet
import Synchronization

/// The tools of a cell: addresses, sessions as the mode needs them, and the transcript.
final class Stage: Sendable {
    let transcript = Transcript()
    let server: PeerServer
    private let mode: Mode
    private let sessions = Mutex<[URLSession]>([])
    #if compiler(<6.3)
    /// Sessions that stay alive to the end of the process. Foundation 6.2.3 with a current libcurl ends the process when
    /// it releases a session that had a connection over TLS ("_MultiHandle deallocated with non-zero retain count"), with
    /// or without an agent.
    private static let kept = Mutex<[URLSession]>([])
    #endif

    init(mode: Mode, server: PeerServer) {
        self.mode = mode
        self.server = server
    }

    func url(_ path: String, at role: PeerServer.Role = .http) -> URL {
        let scheme =
            switch role {
            case .http2, .tls, .untrusted, .certified: "https"
            case .ftp: "ftp"
            case .http, .proxy, .guarded, .nobody: "http"
            }
        return URL(string: "\(scheme)://\(server.authority(of: role))/\(path)") ?? URL(fileURLWithPath: "/")
    }

    func request(_ path: String, at role: PeerServer.Role = .http, method: String = "GET") -> URLRequest {
        var request = URLRequest(url: url(path, at: role))
        request.httpMethod = method
        return request
    }

    /// Makes a session as a service does. In explicit mode the configuration is captured when it is otherwise complete,
    /// and `change` is called after that.
    func session(
        _ configuration: URLSessionConfiguration = .default, delegate: RecordingDelegate? = nil,
        queue: OperationQueue? = nil, afterCapture change: (URLSessionConfiguration) -> Void = { _ in }
    ) -> URLSession {
        if mode == .explicit { configuration.captureWithMartlet() }
        change(configuration)
        let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: queue)
        sessions.withLock { $0.append(session) }
        #if compiler(<6.3)
        Self.kept.withLock { $0.append(session) }
        #endif
        return session
    }

    func delegate(_ answers: RecordingDelegate.Answers = .init()) -> RecordingDelegate {
        RecordingDelegate(transcript, answers)
    }

    func forEachSession(_ body: (URLSession) -> Void) { sessions.withLock { $0 }.forEach(body) }

    /// Ends the sessions of the cell; their delegates see that, too.
    func close() async {
        for session in sessions.withLock({ $0 }) {
            session.invalidateAndCancel()
            guard let delegate = session.delegate as? RecordingDelegate else { continue }
            if await !delegate.invalidated.wait(atMost: .seconds(2)) { transcript.note("session", "not invalidated") }
        }
    }
}
