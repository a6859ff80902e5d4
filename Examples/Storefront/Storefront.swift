import ArgumentParser
import Foundation
import Hummingbird
import Logging
import Martlet
import ServiceLifecycle

@main
struct Storefront: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "A small shop that asks two services for its contents and has the Martlet agent in it.")

    @Option(help: "The URL of the catalog service.")
    var catalog: URL

    @Option(help: "The URL of the payment service.")
    var payments: URL

    @Option(help: "The port to listen on, at 127.0.0.1; 0 chooses a free one.")
    var port = 8080

    @Option(help: "What this version does wrong.")
    var flaw: Flaw?

    func run() async throws {
        // From here on, this one line measures every URLSession request of the process.
        let agent = MartletAgent.start()

        let logger = Logger(label: "storefront")
        let shop = Application(
            router: shopRouter(
                catalog: Catalog(base: catalog, attempts: flaw.attempts), payments: Payments(base: payments), flaw: flaw
            ),
            configuration: .init(address: .hostname("127.0.0.1", port: port)),
            onServerRunning: { logger.notice("listening on http://127.0.0.1:\($0.localAddress?.port ?? 0)") },
            logger: logger)

        // The first service to start is the last to stop, so the agent delivers the shop's requests up to its end.
        let group = ServiceGroup(
            services: [agent, shop], gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
        try await group.run()
    }
}

extension URL: @retroactive ExpressibleByArgument {
    public init?(argument: String) {
        self.init(string: argument)
    }
}
