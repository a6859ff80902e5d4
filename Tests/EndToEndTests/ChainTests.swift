import Fixtures
import Foundation
import MartletReports
import MartletSQLiteStorage
import MartletStorage
import MartletTelemetry
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Three services: Hummingbird with URLSession, Hummingbird with AsyncHTTPClient, Python with the OpenTelemetry SDK.
@Suite(.serialized) struct ChainTests {
    let folder: TemporaryFolder
    let collector: CollectorProcess

    init() async throws {
        folder = try TemporaryFolder()
        collector = try await CollectorProcess(store: folder.path("collector.sqlite"))
    }

    @Test(arguments: [Chain.Front.urlSession, .asyncHTTPClient])
    func requestThroughAllServicesIsOneTraceAndCountsOnceInEach(front: Chain.Front) async throws {
        let chain = try await Chain(front: front, folder: folder, collector: collector)
        var traces: [TraceID] = []
        for number in 0..<10 { traces.append(try await chain.trace(of: "orders/\(number)")) }
        try await chain.stop()

        #expect(Set(traces).count == 10)
        for trace in traces {
            let spans = try await chain.spans(of: trace)
            #expect(
                spans.map { "\($0.resource.service) \($0.span.kind) \($0.span.name)" } == [
                    "front server GET /orders/{order}", "front client GET /orders/{id}",
                    "middle server GET /orders/{order}", "middle client GET /orders/{id}",
                    "prices server GET /orders/{order}",
                ])
            #expect(spans.first?.span.parentSpanID == nil)
            for (parent, child) in zip(spans, spans.dropFirst()) {
                #expect(child.span.parentSpanID == parent.span.spanID, "\(child.span.name)")
            }
            #expect(spans.last?.span.events.map(\.name) == ["priced"])
            #expect(spans.allSatisfy { $0.span.request?.status == 200 && !$0.span.isError })
        }
        #expect(
            try await chain.counts() == [
                "front server /orders/{order} 200": 10, "front client /orders/{id} 200": 10,
                "middle server /orders/{order} 200": 10, "middle client /orders/{id} 200": 10,
                "prices server /orders/{order} 200": 10,
            ])
    }

    @Test(arguments: [Chain.Front.urlSession, .asyncHTTPClient])
    func serviceSpanAroundARequestDoesNotCountItTwice(front: Chain.Front) async throws {
        let chain = try await Chain(front: front, folder: folder, collector: collector)
        let trace = try await chain.trace(of: "wrapped/1")
        try await chain.stop()

        let spans = try await chain.spans(of: trace)
        #expect(
            spans.prefix(3).map { "\($0.resource.service) \($0.span.kind) \($0.span.name)" } == [
                "front server GET /wrapped/{order}", "front client ask for an order", "front client GET /orders/{id}",
            ])
        #expect(spans.count == 6)
        for (parent, child) in zip(spans, spans.dropFirst()) {
            #expect(child.span.parentSpanID == parent.span.spanID, "\(child.span.name)")
        }
        #expect(spans.map { $0.span.request == nil } == [false, true, false, false, false, false])
        #expect(try await chain.counts()["front client /orders/{id} 200"] == 1)
        #expect(try await chain.counts().filter { $0.key.hasPrefix("front client") }.count == 1)
    }
}
