import Fixtures
import MartletReports
import MartletStorage
import MartletTelemetry
import Testing

extension StorageContractTests {
    /// Senders of metrics and spans whose metrics may leave out calls without an answer.
    @Suite struct UnansweredSpanTests {
        private let folder: TemporaryFolder
        private let storage: any Storage

        init() async throws {
            folder = try TemporaryFolder()
            storage = try await StorageContractTests.makeStore(in: folder)
        }

        enum Step: Sendable {
            /// Metrics of the ten seconds up to an end.
            case metrics(
                _ kind: RequestKind = .client, answered: Int = 60, unanswered: Int = 0, error: String? = "timeout",
                end: UInt64 = 10)
            /// Metrics of a call without an answer that begin after some milliseconds.
            case firstMetrics(after: UInt64)
            case metricsOfAnotherInstance(unanswered: Int)
            /// Spans that end up to 2.25 s after a time.
            case spans(Int, kind: RequestKind = .client, status: Int? = nil, error: String? = "timeout", at: UInt64 = 0)
        }

        struct Case: Sendable, CustomTestStringConvertible {
            var testDescription: String
            var steps: [Step]
            var failed: UInt64
            var fromSpans: UInt64?

            init(_ name: String, _ steps: [Step], failed: UInt64, fromSpans: UInt64? = nil) {
                (testDescription, self.steps, self.failed, self.fromSpans) = (name, steps, failed, fromSpans)
            }
        }

        static let cases = [
            // The sender's metrics leave them out.
            Case("only in spans", [.metrics(), .spans(20)], failed: 20, fromSpans: 20),
            Case("only in spans, which come first", [.spans(20), .metrics()], failed: 20, fromSpans: 20),
            Case("only in sampled spans", [.metrics(), .spans(2)], failed: 2, fromSpans: 2),
            Case("in spans after the last answer", [.metrics(), .spans(20, at: 1800)], failed: 20, fromSpans: 20),
            Case("hung, only in spans", [.metrics(), .spans(3, error: "hung")], failed: 3, fromSpans: 3),
            Case(
                "in spans twice", [.spans(20), .metrics(), .spans(20), .metrics(end: 20)], failed: 20, fromSpans: 20),
            // Its metrics have them.
            Case("in both", [.metrics(unanswered: 20), .spans(20)], failed: 20),
            Case("in both, spans first", [.spans(20), .metrics(unanswered: 20)], failed: 20),
            Case(
                "in metrics that come later than others",
                [.metrics(), .spans(20), .metrics(answered: 0, unanswered: 20)], failed: 20),
            Case("only in metrics", [.metrics(unanswered: 20)], failed: 20),
            Case("in metrics and sampled spans", [.metrics(unanswered: 20), .spans(2)], failed: 20),
            Case("in metrics without an error type", [.metrics(unanswered: 20, error: nil), .spans(20)], failed: 0),
            Case(
                "in metrics under another error", [.metrics(unanswered: 20, error: "_OTHER"), .spans(20)], failed: 20),
            Case("in metrics that begin after the span", [.firstMetrics(after: 900), .spans(1)], failed: 1),
            Case(
                "in metrics that are on their way", [.metrics(unanswered: 20), .spans(20), .spans(5, at: 20)],
                failed: 20),
            // Only some metrics have them.
            Case(
                "in metrics of an earlier time", [.metrics(unanswered: 20), .spans(5, at: 7200), .metrics(end: 7210)],
                failed: 25, fromSpans: 5),
            Case(
                "in metrics of another instance", [.metrics(), .spans(20), .metricsOfAnotherInstance(unanswered: 1)],
                failed: 21, fromSpans: 20),
            // Metrics always have these.
            Case("answered with 503", [.metrics(), .spans(20, status: 503, error: "503")], failed: 0),
            Case("answered with 200, and failed", [.metrics(), .spans(20, status: 200)], failed: 0),
            Case("cancelled", [.metrics(), .spans(20, error: "cancelled")], failed: 0),
            Case("without an error", [.metrics(), .spans(20, error: nil)], failed: 0),
            Case("of a server", [.metrics(.server), .spans(20, kind: .server)], failed: 0),
        ]

        private func resource(_ instance: String = "p-1") -> TelemetryResource {
            TelemetryResource(service: "prices", instance: instance, agent: "opentelemetry 1.38")
        }

        private func send(_ points: [RequestPoint], of instance: String = "p-1") async throws {
            let metrics = InstanceMetrics(
                resource: resource(instance), points: points.filter { $0.statistics.requests > 0 })
            _ = try await storage.store([metrics], of: nil)
        }

        private func run(_ step: Step) async throws {
            func unanswered(_ count: Int, _ error: String? = "timeout", end: UInt64 = 10) -> RequestPoint {
                let dimensions = Samples.dimensions(endpoint: "/pay", status: nil, error: error)
                return Samples.point(dimensions, Array(repeating: 0.25, count: count), end: end)
            }
            switch step {
            case .metrics(let kind, let answered, let count, let error, let end):
                let point = Samples.point(Samples.dimensions(kind), Array(repeating: 0.25, count: answered), end: end)
                try await send([point, unanswered(count, error, end: end)])
            case .firstMetrics(let milliseconds):
                var point = unanswered(1)
                point.start = Samples.time(0) + milliseconds * 1_000_000
                try await send([point])
            case .metricsOfAnotherInstance(let count): try await send([unanswered(count)], of: "p-2")
            case .spans(let count, let kind, let status, let error, let time):
                let spans = try (1...count).map { number in
                    var span = Samples.detail(UInt8(number))
                    span.traceID = try #require(TraceID(high: time + 1, low: UInt64(number)))
                    span.kind = kind == .client ? .client : .server
                    span.start = Samples.time(time) + UInt64(number) * 100_000_000
                    span.request = Samples.dimensions(kind, endpoint: "/pay", status: status, error: error)
                    return span
                }
                _ = try await storage.store([DetailsBatch(resource: resource(), details: spans)], of: nil)
            }
        }

        @Test(arguments: cases) func failureCountsOnceWhereverItIsReported(example: Case) async throws {
            for step in example.steps { try await run(step) }
            let query = StatisticsQuery(window: Samples.everything, by: [.service, .endpoint])
            let report = Report(try await storage.statistics(query), for: query)
            #expect(report.totals.measures.failures.count == example.failed)
            #expect(report.totals.measures.fromSpans == example.fromSpans)
            if let fromSpans = example.fromSpans {
                #expect(ReportTable.text(of: report).contains("\(fromSpans) requests counted from spans only"))
            }
        }
    }
}
