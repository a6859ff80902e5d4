import HTTPTypes
import Hummingbird
import ServiceLifecycle

private struct Product: ResponseCodable {
    var id: Int
    var name: String
    var cents: Int

    init(id: Int) {
        self.id = id
        name = ["lamp", "kettle", "chair", "clock", "vase", "rug"][abs(id % 6)] + " \(id)"
        cents = 990 + abs(id % 40) * 250
    }
}

private struct Review: ResponseCodable {
    var stars: Int
    var text: String
}

extension Router<BasicRequestContext> {
    func addCatalog() {
        addSearch()
        addProduct()
        addReviews()
        addStock()
    }

    /// A route that never answers, like a service whose lock is held.
    private func addStock() {
        get("/stock") { _, _ in
            try await cancelWhenGracefulShutdown { try await Task.sleep(for: .seconds(86_400)) }
            return HTTPResponse.Status.serviceUnavailable
        }
    }

    private func addSearch() {
        let behavior = Behavior(
            seed: 1, latency: LogNormal(median: .milliseconds(20), spread: 0.7), failures: [500: 0.01])
        group().add(middleware: behavior).get("/products") { request, _ in
            let query = request.uri.queryParameters.get("query") ?? ""
            return (1...60).map(Product.init).filter { query.isEmpty || $0.name.contains(query) }
        }
    }

    private func addProduct() {
        let behavior = Behavior(
            seed: 2, latency: LogNormal(median: .milliseconds(8), spread: 0.5), failures: [404: 0.04, 500: 0.005])
        group().add(middleware: behavior).get("/products/:id") { _, context in
            Product(id: try context.parameters.require("id", as: Int.self))
        }
    }

    private func addReviews() {
        let behavior = Behavior(
            seed: 3, latency: LogNormal(median: .milliseconds(15), spread: 0.9), failures: [500: 0.02])
        group().add(middleware: behavior).get("/products/:id/reviews") { _, _ in
            [Review(stars: 5, text: "As described."), Review(stars: 3, text: "Took its time.")]
        }
    }
}
