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
    /// - Parameter time: what a payment takes at the median.
    func addPayments(risk: Risk?, time: Duration) {
        addCharge(risk, LogNormal(median: time, spread: 0.7))
        addReceipt()
    }

    private func addCharge(_ risk: Risk?, _ latency: LogNormal) {
        let behavior = Behavior(seed: 4, latency: latency, failures: [402: 0.02, 422: 0.01, 503: 0.01])
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
