import Foundation
import FoundationNetworking

/// One visit to the shop.
enum Errand: Hashable {
    case browse, look(product: Int), buy(product: Int), checkOrder(Int)

    /// Picks the errand with this index. Of ten errands, three browse, four look, two buy and one checks an order.
    init(index: Int) {
        let product = index * 37 % 1000 + 1
        switch index % 10 {
        case 0..<3: self = .browse
        case 3..<7: self = .look(product: product)
        case 7..<9: self = .buy(product: product)
        default: self = .checkOrder(product)
        }
    }

    var name: String {
        switch self {
        case .browse: "GET /"
        case .look: "GET /products/{id}"
        case .buy: "POST /checkout"
        case .checkOrder: "GET /orders/{id}"
        }
    }

    /// The number of requests that the storefront itself makes to serve the errand.
    var upstreamRequests: Int {
        if case .look = self { 2 } else { 1 }
    }

    func request(to storefront: URL) -> URLRequest {
        switch self {
        case .browse: URLRequest(url: storefront.appending(queryItems: [URLQueryItem(name: "query", value: "lamp")]))
        case .look(let product): URLRequest(url: storefront.appending(path: "products/\(product)"))
        case .checkOrder(let order): URLRequest(url: storefront.appending(path: "orders/\(order)"))
        case .buy(let product): purchase(of: product, at: storefront)
        }
    }

    private func purchase(of product: Int, at storefront: URL) -> URLRequest {
        var request = URLRequest(url: storefront.appending(path: "checkout"))
        request.httpMethod = "POST"
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        request.httpBody = Data(#"{"product":\#(product),"cents":1990}"#.utf8)
        return request
    }
}
