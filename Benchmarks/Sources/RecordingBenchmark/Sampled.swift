import Foundation
import FoundationNetworking

@testable import Martlet
@testable import MartletOTLP
@testable import MartletTelemetry

/// The cost of sampling a request, in addition to counting it. It consists of the details on the thread that ended the request.
/// If `isSent`, it also has the span and its share of a compressed batch, which the agent's thread makes in a service.
final class Sampled: Contender {
    let name: String
    private let contents: DetailContents
    private let sampler = TraceSampler(rate: 1)
    private let resource = TelemetryResource(service: "benchmark", instance: "instance")
    private let recorder = Recorder(MartletConfiguration())
    private let isSent: Bool

    init(isSent: Bool) {
        name = "Martlet: a sampled request's details" + (isSent ? ", on the wire" : "")
        contents = InstrumentSettings(MartletConfiguration()).contents
        self.isSent = isSent
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
        var kept: [CapturedRequest] = []
        for _ in 0..<operations {
            let finished = FinishedRequest(
                original: asked, url: url, context: sampler.span(childOf: nil), resends: 0, challenge: nil)
            let answer = RequestAnswer(response: response, error: nil, handle: nil, body: nil, isTimed: true)
            _ = recorder.reserveDetails(isSampled: true, isFailure: false, nanoseconds: request.durationNanoseconds)
            let details = RequestDetails(
                of: request, finished, task: nil, answer: answer, parent: nil, contents: contents, handle: nil)
            var request = request
            request.makeSpan = { details.span($0) }
            request.detailBytes = details.bytes
            kept.append(request)
        }
        guard isSent else { return }
        let spans = kept.compactMap { $0.makeSpan?(dimensions) }
        guard let bytes = try? DetailsBatch(resource: resource, details: spans).otlp() else { return }
        _ = try? Gzip.compress(bytes)
    }
}
