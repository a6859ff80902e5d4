import AsyncHTTPClient
import Martlet
import Tracing

/// A program whose requests go through AsyncHTTPClient.
///
///     AsyncHTTPClientRecipe <base URL>
@main struct AsyncHTTPClientRecipe {
    static func main() async throws {
        // A client takes its tracer when it is created, so the agent starts first.
        let agent = MartletAgent.start()
        let base = CommandLine.arguments.dropFirst().first ?? "http://127.0.0.1:8080"

        // A span around several requests puts them into one trace.
        try await withSpan("restock") { _ in
            for product in 1...3 {
                let request = HTTPClientRequest(url: "\(base)/stock/\(product)")
                let answer = try await HTTPClient.shared.execute(request, timeout: .seconds(10))
                _ = try await answer.body.collect(upTo: 1 << 20)
            }
        }

        await agent.shutdown()
    }
}
