// Starts an agent, ends it, starts another and ends it too. After each step it prints the type of the process's tracer and
// whether a span records.
//
//     TracerProgram nothing|bootstrapped|told-not-to|later
//
// Or makes the spans of calls of a database, a key-value store and a message broker under one agent, and sends them:
//
//     TracerProgram calls
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

/// Makes a span as a client of a database or a message broker does.
func call(_ name: String, _ kind: SpanKind, _ attributes: SpanAttributes, error: String? = nil) {
    let span = startSpan(name, ofKind: kind)
    span.attributes = attributes
    if let error {
        span.attributes["db.response.status_code"] = error
        span.setStatus(SpanStatus(code: .error))
    }
    span.end()
}

func makeCalls() {
    let database: SpanAttributes = [
        "db.system.name": "postgresql", "db.namespace": "shop", "server.address": "db.internal", "server.port": 5432,
    ]
    for number in 0..<20 {
        var attributes = database
        attributes["db.query.text"] = "SELECT name FROM users WHERE mail = 'ada\(number)@example.com'"
        call("shop", .client, attributes, error: number < 3 ? "57014" : nil)
    }
    for _ in 0..<7 {
        call(
            "GET", .client,
            [
                "db.system.name": "valkey", "db.operation.name": "GET", "server.address": "cache.internal",
                "network.peer.address": "10.0.0.7", "network.peer.port": 6379,
            ])
    }
    for _ in 0..<5 {
        call(
            "send orders", .producer,
            [
                "messaging.system": "kafka", "messaging.destination.name": "orders",
                "messaging.operation.name": "send", "server.address": "broker.internal", "server.port": 9092,
            ])
    }
}

let before = CommandLine.arguments.dropFirst().first
if before == "bootstrapped" { InstrumentationSystem.bootstrap(OtherTracer()) }
var configuration = MartletConfiguration.fromEnvironment().configuration
if before == "told-not-to" { configuration.bootstrapsTracing = false }
if before == "calls" {
    let agent = MartletAgent.start(configuration)
    makeCalls()
    await agent.shutdown()
    exit(0)
}
for _ in 0..<2 {
    let agent = MartletAgent.start(configuration)
    if before == "later", !(InstrumentationSystem.instrument is OtherTracer) {
        InstrumentationSystem.bootstrap(OtherTracer())
    }
    show()
    await agent.shutdown()
    show()
}
