import Fixtures

extension Scene {
    /// Runs one service behind a gate from start to end, and then delivers the waiting batches through the same gate.
    func serve(
        requests: Int = 400, flushes: Int = 100, options: [String] = [], environment: [String: String] = [:],
        _ decide: @escaping @Sendable (UploadMessage, _ earlier: [Gate.Upload]) -> Treatment
    ) async throws -> (AgentReport, Gate) {
        let collector = try await collector()
        let gate = try Gate(collector: collector.port, decide)
        let quick = ["MARTLET_EXPORT_TIMEOUT": "1s"].merging(environment) { $1 }
        let service = try start(
            "life", collector: gate.port, requests: requests, ["--flushes", "\(flushes)"] + options, environment: quick)
        let end = try await end(of: service)
        try await drain(collector: gate.port, environment: quick)
        return (end, gate)
    }
}
