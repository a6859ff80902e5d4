import Foundation
import FoundationNetworking

/// Methods with and without a body, headers and URLs that are out of the ordinary.
extension Cell {
    static let methods: [Cell] =
        ["POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PURGE", "post"].flatMap { method in
            [
                Cell("\(method) with a body") { stage in
                    var request = stage.request("echo", method: method)
                    request.httpBody = Data("a body".utf8)
                    await stage.data(stage.session(), request)
                },
                Cell("\(method) without a body") { await $0.data($0.session(), $0.request("echo", method: method)) },
            ]
        } + [
            Cell("GET with a body") { stage in
                var request = stage.request("echo")
                request.httpBody = Data("a body".utf8)
                await stage.data(stage.session(), request)
            },
            Cell("POST that expects to continue") { stage in
                var request = stage.request("echo", method: "POST")
                request.httpBody = Data(repeating: 7, count: 2_000_000)
                request.setValue("100-continue", forHTTPHeaderField: "Expect")
                await stage.data(stage.session(), request)
            },
            Cell("large request headers") { stage in
                var request = stage.request("hello")
                for number in 0..<30 {
                    request.setValue(String(repeating: "v", count: 1000), forHTTPHeaderField: "X-Large-\(number)")
                }
                await stage.data(stage.session(), request)
            },
            Cell("headers of the caller's own") { stage in
                var request = stage.request("hello")
                request.setValue("", forHTTPHeaderField: "X-Empty")
                request.setValue("mine/1", forHTTPHeaderField: "User-Agent")
                request.addValue("one", forHTTPHeaderField: "X-Twice")
                request.addValue("two", forHTTPHeaderField: "X-Twice")
                request.setValue("identity", forHTTPHeaderField: "Accept-Encoding")
                request.setValue("caf\u{e9}", forHTTPHeaderField: "X-Latin")
                await stage.data(stage.session(), request)
            },
            Cell("URL with other than ASCII characters") { stage in
                guard let url = URL(string: stage.url("hello").absoluteString + "/caf\u{e9}?q=\u{1F426}&r=%20#part")
                else { return }
                await stage.data(stage.session(), URLRequest(url: url))
            },
            Cell("URL without a path") { stage in
                guard let url = URL(string: "http://\(stage.server.authority(of: .http))?q=1") else { return }
                await stage.data(stage.session(), URLRequest(url: url))
            },
        ]
}
