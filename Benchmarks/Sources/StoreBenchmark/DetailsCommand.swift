import ArgumentParser
import Foundation
import MartletSQLiteStorage
import MartletStorage
import MartletTelemetry

/// Measures the cost of storing a span when few and when many are kept, and the time of a page of the list of requests.
struct DetailsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "details", abstract: "Prints the cost of storing and of listing kept requests.")

    @Argument(help: "The store's file; made, and left there.")
    var path: String

    @Option(help: "Spans that are kept at the end.")
    var spans = 100_000

    @Option(help: "Spans of a batch.")
    var batch = 512

    func run() async throws {
        let clock = SteppingClock(start: 1_790_000_000)
        let storage = try SQLiteStorage(path: path, now: { clock.now })
        let count = spans / batch
        // The batches have no ids, so that each span is looked up among the kept ones. The last spans push out the first.
        for number in 0..<count + 20 {
            let before = ProcessCost.cpuSeconds
            _ = try await storage.store([details(number, at: clock.now)], of: nil)
            let cost = ProcessCost.cpuSeconds - before
            if number < 10 || number >= count {
                let microseconds = cost / Double(batch) * 1e6
                print(String(format: "%6d kept: %.1f µs of CPU a span", min(number * batch, spans), microseconds))
            }
            clock.advance(seconds: 1)
        }
        try await list(storage)
        try storage.close()
    }

    private func list(_ storage: SQLiteStorage) async throws {
        let window = TimeWindow(from: 0, to: UInt64(Int64.max))
        let latest = RequestsQuery(window: window, limit: 100)
        try await time("latest 100", storage, latest)
        let filter = RequestFilter([.service: ["service-3"]])
        try await time("latest 100 of one service", storage, changed(latest) { $0.filter = filter })
        try await time("latest 100 failed", storage, changed(latest) { $0.onlyFailed = true })
        try await time("slowest 100", storage, changed(latest) { $0.order = .init(.duration) })
        try await time("latest 100 with a text in a body", storage, changed(latest) { $0.text = "order\":77" })
        try await time("a text that none has", storage, changed(latest) { $0.text = "nowhere to be found" })
    }

    private func changed(_ query: RequestsQuery, _ change: (inout RequestsQuery) -> Void) -> RequestsQuery {
        var query = query
        change(&query)
        return query
    }

    private func time(_ title: String, _ storage: SQLiteStorage, _ query: RequestsQuery) async throws {
        var costs: [Double] = []
        var count = 0
        for _ in 0..<5 {
            let before = ProcessCost.cpuSeconds
            count = try await storage.requests(query).count
            costs.append((ProcessCost.cpuSeconds - before) * 1000)
        }
        print(String(format: "%@: %.1f ms of CPU, of %d", title, costs.sorted()[2], count))
    }

    private func details(_ number: Int, at time: UnixNanoseconds) -> DetailsBatch {
        let service = "service-\(number % 10)"
        let resource = TelemetryResource(service: service, version: "1", environment: nil, instance: "i", host: nil)
        let spans = (0..<batch).compactMap { index in span(number * batch + index + 1, at: time) }
        return DetailsBatch(resource: resource, details: spans)
    }

    private func span(_ number: Int, at time: UnixNanoseconds) -> SpanRecord? {
        guard let trace = TraceID(high: UInt64(number) &* 0x9E37_79B9_7F4A_7C15, low: UInt64(number)),
            let id = SpanID(UInt64(number))
        else { return nil }
        let isFailed = number % 50 == 0
        let request = RequestDimensions(
            kind: .client, method: "POST", host: "payments.internal", port: 8443, endpoint: "/payments/{id}",
            status: isFailed ? 503 : 200, error: isFailed ? "503" : nil)
        var span = SpanRecord(
            traceID: trace, spanID: id, name: SpanRecord.name(of: request), kind: .client, start: time + UInt64(number),
            durationNanoseconds: UInt64(number % 977) * 1_000_000)
        span.request = request
        span.url = "https://payments.internal:8443/payments/\(number)"
        span.attributes = [
            "http.request.header.content-type": .array([.string("application/json")]),
            "http.request.header.user-agent": .array([.string("storefront/2.4.1")]),
            "martlet.request.body": .string(#"{"order":\#(number),"amount":1299,"customer":"[redacted]"}"#),
            "martlet.phase.first_byte": .double(0.03), "martlet.phase.transfer": .double(0.004),
        ]
        return span
    }
}
