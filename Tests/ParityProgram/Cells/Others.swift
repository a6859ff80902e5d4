import Foundation
import FoundationNetworking

/// Loaders that the agent does not observe: a service's own, WebSocket, FTP.
extension Cell {
    /// The cells that have to run first: the shared session keeps the protocols that are registered when the first
    /// session of the process is made.
    static let first = [
        Cell("foreign protocol, registered before the first session") { stage in
            _ = URLProtocol.registerClass(Mock.self)
            await stage.data(URLSession.shared, stage.request("mock"))
            URLProtocol.unregisterClass(Mock.self)
        }
    ]

    static let others: [Cell] = [
        Cell("foreign protocol, put in front before the capture") { stage in
            let configuration = URLSessionConfiguration.default
            configuration.protocolClasses = [Mock.self] + (configuration.protocolClasses ?? [])
            await stage.data(stage.session(configuration), stage.request("mock"))
        },
        Cell("foreign protocol, put in front after the capture") { stage in
            let session = stage.session { $0.protocolClasses = [Mock.self] + ($0.protocolClasses ?? []) }
            await stage.data(session, stage.request("mock"))
        },
        Cell("foreign protocol, alone") { stage in
            let configuration = URLSessionConfiguration.default
            configuration.protocolClasses = [Mock.self]
            await stage.data(stage.session(configuration), stage.request("mock"))
        },
        Cell("foreign protocol, to a session delegate") { stage in
            let configuration = URLSessionConfiguration.default
            configuration.protocolClasses = [Mock.self] + (configuration.protocolClasses ?? [])
            await stage.delegated(stage.request("mock"), .init(), configuration)
        },
        Cell("foreign protocol that fails") { stage in
            let configuration = URLSessionConfiguration.default
            configuration.protocolClasses = [Mock.self] + (configuration.protocolClasses ?? [])
            await stage.data(stage.session(configuration), stage.request("mock-failure"))
        },
        Cell("foreign protocol that passes by") { stage in
            let configuration = URLSessionConfiguration.default
            configuration.protocolClasses = [Mock.self] + (configuration.protocolClasses ?? [])
            await stage.data(stage.session(configuration), stage.request("hello"))
        },
        Cell("foreign protocol that passes by, alone") { stage in
            let configuration = URLSessionConfiguration.default
            configuration.protocolClasses = [Mock.self]
            await stage.data(stage.session(configuration), stage.request("hello"))
        },
        // On Linux the session's own protocols are asked first.
        Cell("foreign protocol, registered") { stage in
            _ = URLProtocol.registerClass(Mock.self)
            await stage.data(stage.session(), stage.request("mock"))
            URLProtocol.unregisterClass(Mock.self)
        },
        // Debian builds libcurl without WebSocket, and Foundation reports that.
        Cell("WebSocket") { stage in
            let delegate = stage.delegate()
            let url = stage.url("hello").absoluteString.replacing("http://", with: "ws://")
            guard let url = URL(string: url) else { return }
            await stage.finish(
                stage.session(delegate: delegate).webSocketTask(with: url), at: delegate.completed,
                atMost: Stage.shortLimit)
        },
        Cell("FTP") { await $0.data($0.session(), URLRequest(url: $0.url("file", at: .ftp))) },
        Cell("FTP, session delegate") { await $0.delegated(URLRequest(url: $0.url("file", at: .ftp))) },
        Cell("data URL") { stage in
            guard let url = URL(string: "data:text/plain,hello") else { return }
            await stage.data(stage.session(), URLRequest(url: url))
        },
    ]
}

/// A service's own protocol, as services have in their tests.
private final class Mock: URLProtocol {
    override static func canInit(with request: URLRequest) -> Bool { request.url?.path.hasPrefix("/mock") == true }
    override static func canonicalRequest(for request: URLRequest) -> URLRequest { request }

    override func startLoading() {
        guard let url = request.url, url.path == "/mock",
            let response = HTTPURLResponse(
                url: url, statusCode: 203, httpVersion: "HTTP/1.1", headerFields: ["X-Mock": "yes"])
        else {
            client?.urlProtocol(self, didFailWithError: URLError(.cannotParseResponse))
            return
        }
        client?.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
        client?.urlProtocol(self, didLoad: Data("from the mock".utf8))
        client?.urlProtocolDidFinishLoading(self)
    }

    override func stopLoading() {}
}
