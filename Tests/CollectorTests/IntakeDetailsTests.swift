import Foundation
import MartletIntake
import MartletOTLP
import MartletTelemetry
import SwiftProtobuf
import Testing

@Suite struct IntakeDetailsTests {
    private func take(_ change: (inout OTLPSpan) -> Void = { _ in }) throws -> Taken<DetailsBatch> {
        let batch = DetailsBatch(resource: Samples.resource(), details: [Samples.detail(1), Samples.detail(2)])
        var request: OTLPExportTraceServiceRequest = try .init(serializedBytes: batch.otlp())
        change(&request.resourceSpans[0].scopeSpans[0].spans[0])
        return try Intake().details(try request.serializedBytes(), encoding: .identity)
    }

    @Test func whatTheAgentSendsArrivesAsItWas() throws {
        let taken = try take()
        #expect(taken.refusals.total == 0)
        #expect(
            taken.values == [
                DetailsBatch(resource: Samples.resource(), details: [Samples.detail(1), Samples.detail(2)])
            ])
    }

    @Test func spansThatAreNoRequestsArePassedOver() throws {
        for change in [{ $0.kind = .internal }, { $0.attributes = [] }] as [(inout OTLPSpan) -> Void] {
            let taken = try take(change)
            #expect(taken.refusals.total == 0)
            #expect(taken.values.flatMap(\.details) == [Samples.detail(2)])
        }
    }

    @Test func spansThatCannotBeAreRefused() throws {
        let damages: [(inout OTLPSpan) -> Void] = [
            { $0.traceID = Data([1]) }, { $0.traceID = Data(count: 16) }, { $0.spanID = Data() },
            { $0.parentSpanID = Data([1, 2]) }, { $0.endTimeUnixNano = $0.startTimeUnixNano - 1 },
        ]
        for damage in damages {
            let taken = try take(damage)
            #expect(taken.refusals.total == 1)
            #expect(taken.values.flatMap(\.details) == [Samples.detail(2)])
        }
    }

    @Test(arguments: [
        ("https://user:secret@a.example/x/y?token=secret#secret", "https://a.example/x/y"),
        ("https://u@:secret@a.example", "https://a.example"), ("/x?secret", "/x"),
        ("https://a.example/x@y", "https://a.example/x@y"),
    ])
    func noCredentialAndNoQueryIsKept(url: String, kept: String) throws {
        let taken = try take { span in
            span.attributes.removeAll { $0.key == "url.full" }
            span.attributes.append(OTLPKeyValue("url.full", url))
        }
        #expect(taken.values[0].details[0].url == kept)
    }

    @Test func longTextIsCutBetweenCharacters() throws {
        let taken = try take { $0.status.message = String(repeating: "é", count: 3000) + "…" }
        #expect(taken.values[0].details[0].message == String(repeating: "é", count: 2048))
    }
}
