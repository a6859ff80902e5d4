import Hummingbird
import MartletStorage

/// The routes for monitoring the collector, which need no token and wait for nothing.
struct HealthRoutes: Sendable {
    let storage: any Storage
    let requests: RequestsInWork

    func add(to router: Router<CollectorRequestContext>) {
        // 200 as long as the process answers.
        router.get("healthz") { _, _ in try Response.json(HealthAnswer(status: "ok")) }
        // 503 while the collector stops, or while the store takes no batches.
        router.get("readyz") { _, _ in
            let fault = requests.isDraining ? "stopping" : storage.fault
            guard let fault else { return try Response.json(HealthAnswer(status: "ok")) }
            return try Response.json(HealthAnswer(status: fault), status: .serviceUnavailable)
        }
        for path: RouterPath in ["healthz", "readyz"] { router.refuseOtherMethods(at: path) }
    }
}

private struct HealthAnswer: Encodable {
    var status: String
}
