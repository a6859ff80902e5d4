import Hummingbird
import MartletStorage

/// The routes for monitoring the collector, which need no token and ask nothing of the store.
struct HealthRoutes: Sendable {
    let storage: any Storage
    let requests: RequestsInWork

    func add(to router: Router<CollectorRequestContext>) {
        // The process answers.
        router.get("healthz") { _, _ in try Response.json(Health(status: "ok")) }
        // The store takes batches as well, and the collector is not about to stop.
        router.get("readyz") { _, _ in
            guard let fault = requests.isDraining ? "stopping" : storage.fault else {
                return try Response.json(Health(status: "ok"))
            }
            return try Response.json(Health(status: fault), status: .serviceUnavailable)
        }
    }
}

private struct Health: Encodable {
    var status: String
}
