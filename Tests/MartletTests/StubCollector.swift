import Foundation
import HTTPTypes
import Hummingbird
import MartletOTLP
import MartletTelemetry
import NIOCore
import Synchronization

/// A collector as the agent sees it: it accepts posts, remembers them, and gives the answers that the test has set.
final class StubCollector: Sendable {
    struct Post: Sendable {
        let path: String
        let batch: String?
        let authorization: String?
        let encoding: String?
        let body: [UInt8]
        let status: Int
        /// The names of the header fields, in lower case.
        let headers: [String]
        let fields: HTTPFields
    }

    /// The port of the collector and of the test's service. Requests to other ports come from other tests of this
    /// process and are not counted.
    let port = Atomic<Int>(0)

    /// The time before an answer, in milliseconds.
    let delay = Atomic<Int>(0)

    /// Whether the collector accepts posts and never answers.
    let isSilent = Atomic<Bool>(false)

    /// The store that the answers name; `nil` for none.
    let store = Mutex<String?>(nil)

    private let posts = Mutex<[Post]>([])
    private let answers = Mutex<[(status: Int, headers: HTTPFields, body: [UInt8])]>([])
    /// The largest body in bytes; the answer to a larger one is 413.
    let maxBody = Atomic<Int>(.max)
    /// The status of answers to traces; 0 if traces get the same answers as metrics.
    let tracesStatus = Atomic<Int>(0)
    private let arrivals: AsyncStream<Void>
    private let arrival: AsyncStream<Void>.Continuation

    init() {
        (arrivals, arrival) = AsyncStream.makeStream(of: Void.self)
    }

    /// Sets the next answers. All later answers are 200.
    func answer(_ statuses: Int..., headers: HTTPFields = [:], body: [UInt8] = []) {
        answers.withLock { $0 += statuses.map { ($0, headers, body) } }
    }

    var received: [Post] { posts.withLock { $0 } }

    /// The acknowledged posts by batch id, as a collector that remembers ids would count them.
    var accepted: [String: Post] {
        Dictionary(received.filter { $0.status == 200 }.map { ($0.batch ?? "", $0) }) { first, _ in first }
    }

    /// Returns when the collector has had `number` posts.
    func awaitPosts(_ number: Int) async {
        if received.count >= number { return }
        for await _ in arrivals where received.count >= number { return }
    }

    /// Returns the number of requests in the acknowledged batches, by endpoint.
    func counts() throws -> [String: UInt64] {
        var counts: [String: UInt64] = [:]
        for point in try points() {
            let attributes = point.attributes.reduce(into: [String: OTLPAnyValue]()) { $0[$1.key] = $1.value }
            counts[attributes["url.template"]?.stringValue ?? "", default: 0] += point.count
        }
        return counts
    }

    func points() throws -> [OTLPExponentialHistogramDataPoint] {
        try accepted.values.filter { $0.path == "/v1/metrics" }.flatMap { post in
            try OTLPExportMetricsServiceRequest(serializedBytes: post.plainBody).resourceMetrics
                .flatMap(\.scopeMetrics).flatMap(\.metrics).filter { $0.name == MetricName.clientDuration }
                .flatMap(\.exponentialHistogram.dataPoints)
                .filter { point in
                    let server = point.attributes.first { $0.key == "server.port" }?.value.intValue
                    return server == Int64(port.load(ordering: .relaxed)) || server == Self.nobodysPort
                }
        }
    }

    /// Returns the sums of all points of a histogram.
    func sums(of metric: String) throws -> [Double] {
        try metrics(named: metric).flatMap { metric in
            metric.histogram.dataPoints.map(\.sum) + metric.exponentialHistogram.dataPoints.map(\.sum)
        }
    }

    /// Returns the capture gap in seconds for each batch, the oldest first; 0 for a batch that does not report it.
    func captureGaps() throws -> [Double] { try times(named: MetricName.captureGap) }

    /// Returns the agent's CPU time in seconds for each batch, the oldest first; 0 for a batch that does not report it.
    func agentCPU() throws -> [Double] { try times(named: MetricName.agentCPU) }

    private func times(named name: String) throws -> [Double] {
        try accepted.filter { $0.value.path == "/v1/metrics" }.sorted { $0.key < $1.key }.map { _, post in
            try Self.metrics(of: post).first { $0.name == name }?.sum.dataPoints.first?.asDouble ?? 0
        }
    }

    private func metrics(named name: String) throws -> [OTLPMetric] {
        try accepted.values.filter { $0.path == "/v1/metrics" }.flatMap(Self.metrics).filter { $0.name == name }
    }

    private static func metrics(of post: Post) throws -> [OTLPMetric] {
        try OTLPExportMetricsServiceRequest(serializedBytes: post.plainBody).resourceMetrics.flatMap(\.scopeMetrics)
            .flatMap(\.metrics)
    }

    /// A port without a listener.
    static let nobodysPort: Int64 = 1

    /// Returns the text attributes of each batch's sender.
    func resources() throws -> [[String: String]] {
        try accepted.values.filter { $0.path == "/v1/metrics" }.flatMap { post in
            try OTLPExportMetricsServiceRequest(serializedBytes: post.plainBody).resourceMetrics.map { part in
                part.resource.attributes.reduce(into: [:]) { $0[$1.key] = $1.value.stringValue }
            }
        }
    }

    func spans() throws -> [OTLPSpan] {
        try accepted.values.filter { $0.path == "/v1/traces" }.flatMap { post in
            try OTLPExportTraceServiceRequest(serializedBytes: post.plainBody).resourceSpans
                .flatMap(\.scopeSpans).flatMap(\.spans)
        }
    }

    private func answer(to path: String, bytes: Int) -> (status: Int, headers: HTTPFields, body: [UInt8]) {
        if bytes > maxBody.load(ordering: .relaxed) { return (413, [:], []) }
        let traces = tracesStatus.load(ordering: .relaxed)
        if path == "/v1/traces", traces > 0 { return (traces, [:], []) }
        return answers.withLock { $0.isEmpty ? (200, [:], []) : $0.removeFirst() }
    }

    func addRoutes(to router: Router<BasicRequestContext>) {
        for path in ["/v1/metrics", "/v1/traces"] {
            router.post(RouterPath(path)) { request, _ in
                let body = try await request.body.collect(upTo: 1 << 24)
                if self.isSilent.load(ordering: .relaxed) {
                    MartletTests.arrivals.arrive()
                    try await Task.sleep(for: .seconds(600))
                }
                try await Task.sleep(for: .milliseconds(self.delay.load(ordering: .relaxed)))
                let (status, headers, answer) = self.answer(to: path, bytes: body.readableBytes)
                self.posts.withLock {
                    $0.append(
                        Post(
                            path: path,
                            batch: request.headers.first { $0.name.rawName.lowercased() == "martlet-batch" }?.value,
                            authorization: request.headers[.authorization],
                            encoding: request.headers[.contentEncoding], body: Array(body.readableBytesView),
                            status: status, headers: request.headers.map { $0.name.rawName.lowercased() },
                            fields: request.headers))
                }
                self.arrival.yield()
                var named = headers
                if let name = HTTPField.Name(StoreHeader.name) { named[name] = self.store.withLock { $0 } }
                return Response(
                    status: .init(code: status), headers: named, body: .init(byteBuffer: ByteBuffer(bytes: answer)))
            }
        }
    }
}

extension StubCollector.Post {
    var plainBody: [UInt8] {
        get throws { encoding == "gzip" ? try Gzip.decompress(body, limit: 1 << 24) : body }
    }
}
