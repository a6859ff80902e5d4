import AsyncHTTPClient
import Foundation
import Hummingbird
import Martlet

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A service whose incoming requests, and outgoing ones of two clients, are counted.
///
///     FirstHourRecipe <URL of the shop that it asks>
@main struct FirstHourRecipe {
    static func main() async throws {
        // First, because AsyncHTTPClient takes its tracer when a client is made.
        let agent = MartletAgent.start()
        let shop = CommandLine.arguments.dropFirst().first ?? "http://127.0.0.1:8080"

        let router = Router()
        // Incoming requests: each is counted under its route, /orders/{order}, whatever the order is.
        router.add(middleware: TracingMiddleware())
        router.get("orders/:order") { _, context in
            let order = try context.parameters.require("order", as: Int.self)
            guard order > 0, let stock = URL(string: "\(shop)/stock/\(order)") else {
                throw HTTPError(.internalServerError)
            }
            // Outgoing requests: the same code as without Martlet.
            _ = try await URLSession.shared.data(from: stock)
            let price = HTTPClientRequest(url: "\(shop)/prices/\(order)")
            _ = try await HTTPClient.shared.execute(price, timeout: .seconds(10)).body.collect(upTo: 1 << 20)
            return "order \(order)"
        }

        var application = Application(
            router: router, configuration: .init(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { channel in
                let line = "listening on http://127.0.0.1:\(channel.localAddress?.port ?? 0)\n"
                FileHandle.standardOutput.write(Data(line.utf8))
            })
        // At SIGTERM the agent delivers its requests before the process ends.
        application.addServices(agent)
        try await application.runService()
    }
}
