import Foundation
import Hummingbird
import Logging
import ServiceLifecycle

/// A real HTTP server on loopback that runs for as long as `body` does.
package enum LoopbackServer {
    /// - Parameter port: 0 takes a free port.
    package static func run(
        _ router: Router<BasicRequestContext>, port: Int = 0, _ body: @escaping @Sendable (URL) async throws -> Void
    ) async throws {
        let (ports, bound) = AsyncStream.makeStream(of: Int.self)
        var logger = Logger(label: "test-server")
        logger.logLevel = .critical
        let application = Application(
            responder: EndingResponder(responder: router.buildResponder()),
            configuration: .init(address: .hostname("127.0.0.1", port: port)),
            onServerRunning: { bound.yield($0.localAddress?.port ?? 0) }, logger: logger)
        var configuration = ServiceGroupConfiguration(services: [.init(service: application)], logger: logger)
        // A client that does not take its answer delays the shutdown by this much at most.
        configuration.maximumGracefulShutdownDuration = .seconds(10)
        let server = ServiceGroup(configuration: configuration)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await server.run() }
            var failure: (any Error)?
            for await port in ports {
                guard let url = URL(string: "http://127.0.0.1:\(port)") else { break }
                do { try await body(url) } catch { failure = error }
                break
            }
            // Cancelling would do harm: NIO crashes the process after it has accepted a connection that no task reads.
            await server.triggerGracefulShutdown()
            try await group.waitForAll()
            if let failure { throw failure }
        }
    }
}

/// Cancels requests that are still in progress when the server ends.
private struct EndingResponder: HTTPResponder {
    let responder: RouterResponder<BasicRequestContext>

    func respond(to request: Request, context: BasicRequestContext) async throws -> Response {
        try await cancelWhenGracefulShutdown { try await responder.respond(to: request, context: context) }
    }
}
