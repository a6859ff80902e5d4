import Foundation
import InMemoryTracing
import Martlet
import Tracing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A service that keeps its own tracer, here swift-distributed-tracing's in-memory one.
///
///     OwnTracerRecipe <base URL>
@main struct OwnTracerRecipe {
    static func main() async throws {
        let tracer = InMemoryTracer()
        // The first tracer makes the service's spans. Martlet's tracer passes the caller's trace on to URLSession.
        InstrumentationSystem.bootstrap(MultiplexInstrument([tracer, MartletTracer()]))
        // The service has called bootstrap, so the agent does not.
        var configuration = MartletConfiguration.fromEnvironment().configuration
        configuration.bootstrapsTracing = false
        let agent = MartletAgent.start(configuration)
        guard let base = URL(string: CommandLine.arguments.dropFirst().first ?? "http://127.0.0.1:8080") else { return }

        // The service's span goes to its own tracer, and Martlet counts the request within it.
        try await withSpan("restock", ofKind: .internal) { _ in
            _ = try await URLSession.shared.data(from: base.appendingPathComponent("stock/1"))
        }
        // A span that is only for Martlet names its tracer.
        agent.tracer.withSpan("count the shelves", ofKind: .server) { span in
            span.attributes["http.request.method"] = "_OTHER"
            span.attributes["http.route"] = "count the shelves"
        }

        print("own tracer:", tracer.finishedSpans.map(\.operationName).joined(separator: ", "))
        await agent.shutdown()
    }
}
