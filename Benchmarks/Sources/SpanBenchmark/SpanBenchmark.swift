import Foundation
import InMemoryTracing
import Martlet
import Tracing

/// Measures the cost of a span for the thread that makes it, and the same for the no-op tracer and the in-memory tracer.
@main
enum SpanBenchmark {
    /// The number of spans in one round. It is below the limit of an interval, so every sampled span is kept.
    private static let spans = 500
    private static let rounds = 60
    private static let buffer = FileManager.default.temporaryDirectory
        .appendingPathComponent("martlet-\(UUID().uuidString)")

    static func main() async {
        let noOp = Contender("no-op tracer", NoOpTracer())
        let memory = InMemoryTracer()
        let inMemory = Contender("in-memory tracer, 8 attributes", memory)
        var results = Results([noOp.name, inMemory.name])
        for rate in [0.0, 1] {
            let agent = MartletAgent.start(configuration(rate))
            let contenders = [
                noOp, inMemory,
                Contender("Martlet, rate \(Int(rate)), internal", agent.tracer),
                Contender("Martlet, rate \(Int(rate)), request with 8 attributes", agent.tracer, kind: .client),
            ]
            for round in 0..<rounds {
                for contender in round.isMultiple(of: 2) ? contenders : contenders.reversed() {
                    let nanoseconds = contender.run(spans)
                    if round > 0 { results.add(nanoseconds, of: contender.name) }
                    await agent.flush()
                    memory.clearFinishedSpans()
                }
            }
            await agent.shutdown()
        }
        try? FileManager.default.removeItem(at: buffer)
        results.show(against: inMemory.name)
    }

    private static func configuration(_ rate: Double) -> MartletConfiguration {
        var configuration = MartletConfiguration.fromEnvironment().configuration
        configuration.sampleRate = rate
        configuration.bufferDirectory = buffer
        return configuration
    }
}
