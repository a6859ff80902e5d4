import Foundation
import FoundationNetworking

/// A way of making requests with `URLSession` to one endpoint.
struct RequestMaker: Sendable {
    /// The endpoint's name in a report.
    let endpoint: String
    /// Makes the request with this number, and returns the moment at which its caller learned of the answer or the error. A
    /// handler or a delegate learns of it earlier than a waiting task wakes up.
    let make: @Sendable (Int) async -> ContinuousClock.Instant

    static func all(base: URL, nobody: URL) -> [RequestMaker] {
        let configuration = URLSessionConfiguration.default
        configuration.timeoutIntervalForRequest = 30
        configuration.httpAdditionalHeaders = ["X-Probe": "1"]
        let custom = URLSession(configuration: configuration)
        let ephemeral = URLSession(configuration: .ephemeral)
        let delegated = URLSession(configuration: .default, delegate: TaskEnd(), delegateQueue: nil)
        return [
            RequestMaker(endpoint: "/users/{id}") { number in
                await withCheckedContinuation { told in
                    URLSession.shared.dataTask(with: base / "users/\(number)?token=secret") { _, _, _ in
                        told.resume(returning: .now)
                    }.resume()
                }
            },
            RequestMaker(endpoint: "/orders/{id}/items") { number in
                _ = try? await custom.data(for: URLRequest(url: base / "orders/\(number)/items"))
                return .now
            },
            RequestMaker(endpoint: "/missing/{id}") { number in
                _ = try? await ephemeral.data(from: base / "missing/\(number)")
                return .now
            },
            RequestMaker(endpoint: "/broken") { _ in
                await withCheckedContinuation { told in
                    let task = delegated.dataTask(with: base / "broken")
                    (delegated.delegate as? TaskEnd)?.await(task) { told.resume(returning: .now) }
                    task.resume()
                }
            },
            RequestMaker(endpoint: "/posted") { number in
                var request = URLRequest(url: base / "posted")
                request.httpMethod = "POST"
                request.httpBody = Data(repeating: 7, count: 100 + number % 100)
                _ = try? await custom.data(for: request)
                return .now
            },
            RequestMaker(endpoint: "/nobody") { _ in
                _ = try? await URLSession.shared.data(from: nobody)
                return .now
            },
        ]
    }
}

func / (base: URL, path: String) -> URL { URL(string: "\(base.absoluteString)/\(path)") ?? base }
