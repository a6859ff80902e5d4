import Foundation
import Hummingbird
import Logging
import Synchronization

/// A real HTTP server on a free loopback port, for as long as `body` runs.
package enum LoopbackServer {
    package static func run(
        _ router: Router<BasicRequestContext>, _ body: @escaping @Sendable (URL) async throws -> Void
    ) async throws {
        let (ports, port) = AsyncStream.makeStream(of: Int.self)
        var logger = Logger(label: "test-server")
        logger.logLevel = .critical
        let application = Application(
            router: router, configuration: .init(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { port.yield($0.localAddress?.port ?? 0) }, logger: logger)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await application.run() }
            for await port in ports {
                guard let url = URL(string: "http://127.0.0.1:\(port)") else { break }
                try await body(url)
                break
            }
            group.cancelAll()
        }
    }
}
