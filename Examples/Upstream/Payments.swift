import Hummingbird

private struct Order: Decodable {
    var product: Int
    var cents: Int
}

private struct Payment: ResponseCodable {
    var id: Int
    var cents: Int
}

extension Router<BasicRequestContext> {
    /// - Parameter isSlower: whether a payment takes longer, and some take very long.
    func addPayments(risk: Risk?, isSlower: Bool) {
        addCharge(risk, isSlower ? LogNormal(median: .milliseconds(150), spread: 1) : usual)
        addReceipt()
    }

    private var usual: LogNormal { LogNormal(median: .milliseconds(60), spread: 0.6) }

    private func addCharge(_ risk: Risk?, _ latency: LogNormal) {
        let behavior = Behavior(seed: 4, latency: latency, failures: [402: 0.05, 422: 0.02, 503: 0.03])
        group().add(middleware: behavior).post("/payments") { request, context in
            let order = try await request.decode(as: Order.self, context: context)
            if let risk, await !risk.allows(order.product) { throw HTTPError(.init(code: 402)) }
            return EditedResponse(status: .created, response: Payment(id: order.product, cents: order.cents))
        }
    }

    private func addReceipt() {
        let behavior = Behavior(
            seed: 5, latency: LogNormal(median: .milliseconds(30), spread: 0.4), failures: [404: 0.03, 503: 0.01])
        group().add(middleware: behavior).get("/payments/:id") { _, context in
            Payment(id: try context.parameters.require("id", as: Int.self), cents: 1990)
        }
    }
}
