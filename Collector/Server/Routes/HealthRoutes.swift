import Hummingbird
import Logging
import MartletStorage

/// The routes for monitoring the collector, which need no token.
struct HealthRoutes: Sendable {
    let storage: any Storage
    let requests: RequestsInWork
    let logger: Logger

    func add(to router: Router<CollectorRequestContext>) {
        // The process answers.
        router.get("healthz") { _, _ in try Response.json(Health(status: "ok")) }
        // The store answers as well, and the collector is not about to stop.
        router.get("readyz") { _, _ in
            guard !requests.isDraining else {
                return try Response.json(Health(status: "stopping"), status: .serviceUnavailable)
            }
            do {
                try await storage.check()
                return try Response.json(Health(status: "ok"))
            } catch {
                logger.error("the store does not answer", metadata: ["error": "\(error)"])
                return try Response.json(Health(status: "the store does not answer"), status: .serviceUnavailable)
            }
        }
    }
}

private struct Health: Encodable {
    var status: String
}
