import Foundation
import FoundationNetworking
import Hummingbird

struct Product: ResponseCodable {
    var id: Int
    var name: String
    var cents: Int
}

struct Review: ResponseCodable {
    var stars: Int
    var text: String
}

/// The client of the catalog, over `URLSession.shared`.
struct Catalog: Sendable {
    let base: URL
    /// How often a request is sent at most.
    var attempts = 1

    func products(matching query: String?) async throws -> [Product] {
        let search = [URLQueryItem(name: "query", value: query ?? "")]
        return try await get(base.appending(path: "products").appending(queryItems: search))
    }

    func product(_ id: Int) async throws -> Product {
        try await get(base.appending(path: "products/\(id)"))
    }

    func reviews(of id: Int) async throws -> [Review] {
        try await get(base.appending(path: "products/\(reviewKey(of: id))/reviews"))
    }

    /// Asks how many of all products are in stock, and waits for the answer without a time limit.
    func stock() async throws -> Int {
        var request = URLRequest(url: base.appending(path: "stock"))
        request.timeoutInterval = 86_400
        return try await URLSession.shared.value(for: request)
    }

    private func get<Value: Decodable>(_ url: URL) async throws -> Value {
        try await trying(attempts) { try await URLSession.shared.value(for: URLRequest(url: url)) }
    }

    /// Returns the identifier of a product's reviews. It hides the number of products.
    private func reviewKey(of id: Int) -> String {
        let digits = String(id, radix: 16)
        return "5f0c2b9e-71d4-4a3e-8b66-" + String(repeating: "0", count: max(0, 12 - digits.count)) + digits
    }
}
