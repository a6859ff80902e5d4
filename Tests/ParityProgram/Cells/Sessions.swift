import Foundation
import FoundationNetworking

/// Sessions of every kind, and the settings of a configuration.
extension Cell {
    static let sessions: [Cell] = [
        Cell("shared session, completion handler") { await $0.data(.shared, $0.request("hello")) },
        Cell("shared session, async") { stage in
            let request = stage.request("hello")
            await stage.asynchronously(.shared) { try await "\(Bytes(URLSession.shared.data(for: request).0))" }
        },
        Cell("default session") { await $0.data($0.session(), $0.request("hello")) },
        Cell("ephemeral session") { await $0.data($0.session(.ephemeral), $0.request("hello")) },
        Cell("session with neither delegate nor handler") { stage in
            let task = stage.session().dataTask(with: stage.request("hello"))
            await stage.finish(task, at: Ending(), atMost: Stage.shortLimit)
        },
        Cell("session with a delegate queue of its own") { stage in
            let delegate = stage.delegate()
            let queue = OperationQueue()
            queue.maxConcurrentOperationCount = 1
            let task = stage.session(delegate: delegate, queue: queue).dataTask(with: stage.request("hello"))
            await stage.finish(task, at: delegate.completed)
        },
        Cell("session with headers") { stage in
            let configuration = URLSessionConfiguration.default
            configuration.httpAdditionalHeaders = ["X-Session": "yes", "X-Both": "session", "Accept": "text/plain"]
            var request = stage.request("hello")
            request.setValue("request", forHTTPHeaderField: "x-both")
            await stage.data(stage.session(configuration), request)
        },
        Cell("session whose protocols are replaced after the capture") { stage in
            let native = URLSessionConfiguration.default.protocolClasses
            await stage.data(stage.session { $0.protocolClasses = native }, stage.request("hello"))
        },
        Cell("session with cookies") { stage in
            let session = stage.session(.ephemeral)
            for path in ["set-cookie", "hello"] { await stage.data(session, stage.request(path)) }
            let cookies = session.configuration.httpCookieStorage?.cookies?.map { "\($0.name)=\($0.value)" } ?? []
            stage.transcript.note("cookies", cookies.sorted())
        },
        Cell("session that takes no cookies") { stage in
            let configuration = URLSessionConfiguration.ephemeral
            configuration.httpCookieAcceptPolicy = .never
            configuration.httpShouldSetCookies = false
            let session = stage.session(configuration)
            for path in ["set-cookie", "hello"] { await stage.data(session, stage.request(path)) }
        },
        Cell("session with a cache, answered from it") { stage in
            await stage.data(try stage.cachingSession(), stage.request("cacheable"))
        },
        Cell("session with a cache, answered from it to a delegate") { stage in
            let delegate = stage.delegate()
            let task = try stage.cachingSession(delegate: delegate).dataTask(with: stage.request("cacheable"))
            await stage.finish(task, at: delegate.completed)
        },
        Cell("session with a cache, passed by") { stage in
            var request = stage.request("cacheable")
            request.cachePolicy = .reloadIgnoringLocalCacheData
            await stage.data(try stage.cachingSession(), request)
        },
        Cell("session with a cache, filled by an answer") { stage in
            let configuration = URLSessionConfiguration.default
            let cache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0, diskPath: nil)
            configuration.urlCache = cache
            let delegate = stage.delegate()
            let session = stage.session(configuration, delegate: delegate)
            await stage.finish(session.dataTask(with: stage.request("cacheable")), at: delegate.completed)
            stage.transcript.note("cached", cache.cachedResponse(for: stage.request("cacheable")) != nil)
        },
        Cell("session with a cache alone to answer") { stage in
            var request = stage.request("cacheable")
            request.cachePolicy = .returnCacheDataDontLoad
            await stage.data(stage.session(.ephemeral), request)
        },
        Cell("proxy of the environment") { stage in
            setenv("http_proxy", "http://\(stage.server.authority(of: .proxy))", 1)
            await stage.data(stage.session(), stage.request("echo", method: "POST"))
            unsetenv("http_proxy")
        },
        Cell("proxy of the environment, tunnel") { stage in
            setenv("https_proxy", "http://\(stage.server.authority(of: .proxy))", 1)
            await stage.data(stage.session(), stage.request("hello", at: .tls))
            unsetenv("https_proxy")
        },
        Cell("proxy of the environment that asks for credentials") { stage in
            setenv("http_proxy", "http://\(stage.server.authority(of: .guarded))", 1)
            await stage.data(stage.session(), stage.request("hello"))
            unsetenv("http_proxy")
        },
        Cell("proxy of the environment that asks for credentials, tunnel") { stage in
            setenv("https_proxy", "http://\(stage.server.authority(of: .guarded))", 1)
            await stage.data(stage.session(), stage.request("hello", at: .tls))
            unsetenv("https_proxy")
        },
        // Foundation on Linux does not use this setting.
        Cell("proxy of the configuration") { stage in
            let configuration = URLSessionConfiguration.default
            let port = stage.url("", at: .proxy).port ?? 0
            configuration.connectionProxyDictionary = ["HTTPEnable": 1, "HTTPProxy": "127.0.0.1", "HTTPPort": port]
            await stage.data(stage.session(configuration), stage.request("hello"))
        },
        Cell("one connection for a host") { stage in
            let configuration = URLSessionConfiguration.default
            configuration.httpMaximumConnectionsPerHost = 1
            let session = stage.session(configuration)
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<4 {
                    group.addTask {
                        await stage.asynchronously(session) {
                            try await "\(Bytes(session.data(for: stage.request("hello")).0))"
                        }
                    }
                }
            }
        },
        Cell("session ended while its task runs") { stage in
            let delegate = stage.delegate()
            let session = stage.session(delegate: delegate)
            let task = session.dataTask(with: stage.request("hello"))
            task.resume()
            session.finishTasksAndInvalidate()
            await stage.end(task, with: session, delegate)
        },
    ]
}

extension Stage {
    /// A session whose cache has an answer that the server never gave.
    fileprivate func cachingSession(delegate: RecordingDelegate? = nil) throws -> URLSession {
        let configuration = URLSessionConfiguration.default
        let cache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0, diskPath: nil)
        configuration.urlCache = cache
        let response = HTTPURLResponse(
            url: url("cacheable"), statusCode: 200, httpVersion: "HTTP/1.1",
            headerFields: ["Cache-Control": "max-age=3600", "Content-Type": "text/plain"])
        guard let response else { throw URLError(.unknown) }
        cache.storeCachedResponse(
            CachedURLResponse(response: response, data: Data("from the cache".utf8)), for: request("cacheable"))
        return session(configuration, delegate: delegate)
    }
}
