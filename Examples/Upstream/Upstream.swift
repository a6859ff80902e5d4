import ArgumentParser
import Foundation
import Hummingbird
import Logging
import Martlet
import ServiceLifecycle

@main
struct Upstream: AsyncParsableCommand {
    enum Name: String, CaseIterable, ExpressibleByArgument {
        case catalog, payments
    }

    static let configuration = CommandConfiguration(
        abstract: "A service for the storefront to call. Some answers are slow, some fail, and all are counted.")

    @Option(help: "The service to run as.")
    var name: Name

    @Option(help: "The port to listen on, at 127.0.0.1; 0 chooses a free one.")
    var port = 0

    @Option(help: "The URL of the service that judges the risk of a payment; without it every payment is taken.")
    var risk: URL?

    @Option(help: "The milliseconds that a payment takes at the median.")
    var paymentTime = 60

    @Option(help: "What this version does wrong.")
    var flaw: Flaw?

    @Option(help: "A file that gets a line of JSON for each answered request.")
    var log: String?

    func run() async throws {
        let agent = MartletAgent.start()
        let logger = Logger(label: name.rawValue)
        let application = Application(
            router: try router(),
            configuration: .init(address: .hostname("127.0.0.1", port: port)),
            onServerRunning: { logger.notice("listening on http://127.0.0.1:\($0.localAddress?.port ?? 0)") },
            logger: logger)
        let group = ServiceGroup(
            services: [agent, application], gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
        try await group.run()
    }

    private func router() throws -> Router<BasicRequestContext> {
        let accessLog = try AccessLog(path: log)
        let router = Router()
        // This route precedes the middleware, so that a request for the counts does not change them.
        router.get("/counts") { _, _ in accessLog.counts }
        // The agent counts the incoming requests by their spans.
        router.add(middleware: TracingMiddleware())
        router.add(middleware: accessLog)
        if let flaw { router.add(middleware: FlawedVersion(flaw)) }
        switch name {
        case .catalog: router.addCatalog()
        case .payments: router.addPayments(risk: risk.map(Risk.init), time: .milliseconds(paymentTime))
        }
        return router
    }
}

extension URL: @retroactive ExpressibleByArgument {
    public init?(argument: String) {
        self.init(string: argument)
    }
}
