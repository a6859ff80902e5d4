import Hummingbird
import ServiceLifecycle

struct Order: Codable {
    var product: Int
    var cents: Int
}

struct ProductPage: ResponseEncodable {
    var product: Product
    var reviews: [Review]
}

func shopRouter(catalog: Catalog, payments: Payments, flaw: Flaw?) -> Router<BasicRequestContext> {
    let router = Router()
    // The agent counts the shop's incoming requests by their spans. It sees the outgoing requests without this line.
    router.add(middleware: TracingMiddleware())

    router.get("/") { request, _ in
        let products = try await catalog.products(matching: request.uri.queryParameters.get("query"))
        try await flaw.loadReviews(of: products, from: catalog)
        return products
    }
    router.get("/products/:id") { _, context in
        try await productPage(context.parameters.require("id", as: Int.self), from: catalog)
    }
    router.post("/checkout") { request, context in
        try await payments.charge(request.decode(as: Order.self, context: context))
    }
    router.get("/orders/:id") { _, context in
        await flaw.drawReceipt()
        return try await payments.payment(context.parameters.require("id", as: Int.self))
    }
    // At the end of the service nobody waits for this answer any longer.
    router.get("/stock") { _, _ in
        "\(try await cancelWhenGracefulShutdown { try await catalog.stock() })"
    }
    return router
}

private func productPage(_ id: Int, from catalog: Catalog) async throws -> ProductPage {
    async let product = catalog.product(id)
    async let reviews = catalog.reviews(of: id)
    // A page without reviews is still useful.
    let found = (try? await reviews) ?? []
    return ProductPage(product: try await product, reviews: found)
}
