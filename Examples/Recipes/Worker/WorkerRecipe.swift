import Martlet
import Tracing

/// A worker without HTTP. Each of its jobs is a transaction in the report, with count, failures and latency.
@main struct WorkerRecipe {
    static func main() async throws {
        let agent = MartletAgent.start()

        for number in 1...10 {
            do {
                try await transaction("settle payments") {
                    // Spans within a transaction belong to its trace and are not counted.
                    try withSpan("charge") { _ in
                        if number == 10 { throw CardDeclined() }
                    }
                }
            } catch is CardDeclined {}
        }
        try await transaction("send receipts") {}

        await agent.shutdown()
    }

    /// Counts `work` under a name. A `server` span with a method and a route is a transaction. Use few names, and build none
    /// from data.
    private static func transaction(_ name: String, _ work: @Sendable () async throws -> Void) async throws {
        try await withSpan(name, context: .topLevel, ofKind: .server) { span in
            span.attributes["http.request.method"] = "_OTHER"
            span.attributes["http.route"] = name
            try await work()
        }
    }
}

struct CardDeclined: Error {}
