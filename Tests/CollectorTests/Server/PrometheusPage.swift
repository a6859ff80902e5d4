import Foundation
import HummingbirdTesting
import Testing

/// One answer of `/metrics`.
struct PrometheusPage {
    var type: String?
    var lines: [String]

    /// Returns the value of a sample; `nil` if the page does not have it.
    func value(_ sample: String) -> Double? {
        lines.first { $0.hasPrefix(sample + " ") }.flatMap { Double($0.dropFirst(sample.count + 1)) }
    }
}

extension TestClientProtocol {
    func page() async throws -> PrometheusPage {
        let response = try await get("/metrics")
        #expect(response.status == .ok)
        return PrometheusPage(
            type: response.headers[.contentType],
            lines: String(buffer: response.body).components(separatedBy: "\n"))
    }
}
