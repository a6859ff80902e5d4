/// Metric names of the OpenTelemetry semantic conventions (HTTP), and Martlet's own.
package enum MetricName {
    package static let clientDuration = "http.client.request.duration"
    package static let serverDuration = "http.server.request.duration"
    package static let clientRequestSize = "http.client.request.body.size"
    package static let clientResponseSize = "http.client.response.body.size"
    package static let serverRequestSize = "http.server.request.body.size"
    package static let serverResponseSize = "http.server.response.body.size"
    package static let clientPhaseDuration = "martlet.client.phase.duration"
    package static let ledger = "martlet.agent.requests"
    package static let unwatched = "martlet.agent.unwatched"
    package static let agentCPU = "martlet.agent.cpu.time"

    /// The metrics of the agent itself, counted from its start.
    package static let agentMetrics: Set<String> = [ledger, unwatched, agentCPU]

    /// Whether a metric of an agent's batch is about requests, and not about the agent or its process.
    static func isOfRequests(_ name: String) -> Bool {
        !agentMetrics.contains(name) && ProcessMetric(named: name) == nil
    }

    /// Returns the stable name of a metric under its earlier name ("HTTP semantic convention stability migration"), and
    /// any other name unchanged.
    package static func stable(of name: String) -> String { earlier[name] ?? name }

    private static let earlier = [
        "http.client.duration": clientDuration, "http.server.duration": serverDuration,
        "http.client.request.size": clientRequestSize, "http.client.response.size": clientResponseSize,
        "http.server.request.size": serverRequestSize, "http.server.response.size": serverResponseSize,
    ]
}
