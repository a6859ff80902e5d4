import Foundation
import FoundationNetworking

/// One way of making a request with `URLSession`, to one endpoint.
struct RequestMaker: Sendable {
    /// The endpoint that a report should show.
    let endpoint: String
    /// Makes the request with this number, and returns when its caller has the answer or the error.
    let make: @Sendable (Int) async -> Void

    static func all(base: URL) -> [RequestMaker] {
        let configuration = URLSessionConfiguration.default
        configuration.timeoutIntervalForRequest = 30
        configuration.httpAdditionalHeaders = ["X-Probe": "1"]
        let custom = URLSession(configuration: configuration)
        let ephemeral = URLSession(configuration: .ephemeral)
        let delegated = URLSession(configuration: .default, delegate: TaskEnd(), delegateQueue: nil)
        return [
            RequestMaker(endpoint: "/users/{id}") { _ = try? await URLSession.shared.data(from: base / "users/\($0)?q=s") },
            RequestMaker(endpoint: "/orders/{id}/items") { number in
                _ = try? await custom.data(for: URLRequest(url: base / "orders/\(number)/items"))
            },
            RequestMaker(endpoint: "/missing/{id}") { number in
                await withCheckedContinuation { done in
                    ephemeral.dataTask(with: base / "missing/\(number)") { _, _, _ in done.resume() }.resume()
                }
            },
            RequestMaker(endpoint: "/broken") { _ in
                await withCheckedContinuation { done in
                    let task = delegated.dataTask(with: base / "broken")
                    (delegated.delegate as? TaskEnd)?.await(task) { done.resume() }
                    task.resume()
                }
            },
            RequestMaker(endpoint: "/posted") { number in
                var request = URLRequest(url: base / "posted")
                request.httpMethod = "POST"
                request.httpBody = Data(repeating: 7, count: 100 + number % 100)
                _ = try? await custom.data(for: request)
            },
            RequestMaker(endpoint: "/nobody") { _ in
                _ = try? await URLSession.shared.data(from: URL(string: "http://127.0.0.1:1/nobody")!)
            },
        ]
    }
}

func / (base: URL, path: String) -> URL { URL(string: "\(base.absoluteString)/\(path)")! }
