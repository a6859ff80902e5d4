import Foundation
import Hummingbird
import Martlet

/// A service that counts its incoming requests by route.
@main struct HummingbirdRecipe {
    static func main() async throws {
        let agent = MartletAgent.start()

        let router = Router()
        // Each request becomes a span. Martlet counts it under its route, `/orders/{order}`, whatever the order is.
        router.add(middleware: TracingMiddleware())
        // Hummingbird's own metrics go to the backend that `MetricsSystem` was bootstrapped with, as they do without Martlet.
        router.add(middleware: MetricsMiddleware())
        router.get("orders/:order") { _, context in
            let order = try context.parameters.require("order", as: Int.self)
            guard order > 0 else { throw HTTPError(.internalServerError) }
            return "order \(order)"
        }

        var application = Application(
            router: router, configuration: .init(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { channel in
                let line = "listening on http://127.0.0.1:\(channel.localAddress?.port ?? 0)\n"
                FileHandle.standardOutput.write(Data(line.utf8))
            })
        // The agent is a service of the group, so it delivers its requests before the process ends.
        application.addServices(agent)
        try await application.runService()
    }
}
