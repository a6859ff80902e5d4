import Foundation
import FoundationNetworking
import Hummingbird

struct Payment: ResponseCodable {
    var id: Int
    var cents: Int
}

/// The client of the payment service. It uses a separate session with a shorter time-out, more connections and a header that
/// names the shop.
struct Payments: Sendable {
    let base: URL
    private let session: URLSession

    init(base: URL) {
        self.base = base
        let configuration = URLSessionConfiguration.default
        configuration.timeoutIntervalForRequest = 2
        configuration.httpMaximumConnectionsPerHost = 16
        configuration.httpAdditionalHeaders = ["Shop": "storefront"]
        session = URLSession(configuration: configuration)
    }

    func charge(_ order: Order) async throws -> Payment {
        var request = URLRequest(url: base.appending(path: "payments"))
        request.httpMethod = "POST"
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        request.httpBody = try JSONEncoder().encode(order)
        return try await session.value(for: request)
    }

    func payment(_ id: Int) async throws -> Payment {
        try await session.value(for: URLRequest(url: base.appending(path: "payments/\(id)")))
    }
}
