// Starts an agent, ends it, starts another and ends it too. After each step it prints the type of the process's tracer and
// whether a span records.
//
//     TracerProgram nothing|bootstrapped|told-not-to|later
import Foundation
import Martlet
import Tracing

/// A tracer that is not Martlet's.
struct OtherTracer: Instrument {
    func extract<Carrier, Extract: Extractor>(
        _ carrier: Carrier, into context: inout ServiceContext, using extractor: Extract
    ) where Extract.Carrier == Carrier {}

    func inject<Carrier, Inject: Injector>(
        _ context: ServiceContext, into carrier: inout Carrier, using injector: Inject
    ) where Inject.Carrier == Carrier {}
}

func show() {
    let span = startSpan("work", ofKind: .client)
    defer { span.end() }
    print(type(of: InstrumentationSystem.instrument), span.isRecording ? "records" : "rests")
}

let before = CommandLine.arguments.dropFirst().first
if before == "bootstrapped" { InstrumentationSystem.bootstrap(OtherTracer()) }
var configuration = MartletConfiguration.fromEnvironment().configuration
if before == "told-not-to" { configuration.bootstrapsTracing = false }
for _ in 0..<2 {
    let agent = MartletAgent.start(configuration)
    if before == "later", !(InstrumentationSystem.instrument is OtherTracer) {
        InstrumentationSystem.bootstrap(OtherTracer())
    }
    show()
    await agent.shutdown()
    show()
}
