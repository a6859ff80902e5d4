import Foundation
import FoundationNetworking

@testable import Martlet
@testable import MartletOTLP
@testable import MartletTelemetry

/// What a sampled request costs beside being counted: its details at its end, and its span on the wire at the interval's.
final class Sampled: Contender {
    let name = "Martlet: a sampled request's details and span"
    private let contents: DetailContents
    private let sampler = TraceSampler(rate: 1)
    private let resource = TelemetryResource(service: "benchmark", instance: "instance")

    init() {
        contents = CaptureSettings(MartletConfiguration()).contents
    }

    func prepare() {}

    func run(_ operations: Int) {
        guard let url = URL(string: "http://api.example.com:8080/users/4711/orders"),
            let response = HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: nil)
        else { return }
        let asked = URLRequest(url: url)
        let dimensions = RequestDimensions(
            kind: .client, method: "GET", host: "api.example.com", port: 8080, endpoint: "/users/{id}/orders",
            status: 200, error: nil)
        var request = CapturedRequest(
            method: "GET", destination: .url(url), status: 200, start: 1_800_000_000_000_000_000,
            durationNanoseconds: 1_000_000)
        request.bytesReceived = 2
        request.phases[.queue] = 20_000
        request.phases[.firstByte] = 100_000
        request.phases[.transfer] = 10_000
        var spans: [SpanRecord] = []
        for _ in 0..<operations {
            let end = RequestObservation.End(
                request: asked, url: url, context: sampler.span(childOf: nil), resends: 0, challenged: nil)
            let answer = RequestAnswer(response: response, error: nil, handle: nil, body: nil)
            let details = RequestDetails(
                of: request, end, answer: answer, parent: nil, contents: contents, handle: nil)
            spans.append(details.span(dimensions))
        }
        guard let bytes = try? DetailsBatch(resource: resource, details: spans).otlp() else { return }
        _ = try? Gzip.compress(bytes)
    }
}
