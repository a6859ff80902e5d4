#if canImport(Prometheus)
import Prometheus

/// swift-prometheus, used by an instrument that has only a request's labels. It finds a histogram by the labels and records a
/// value. That is a count and ten buckets, while a record of Martlet has all fields of the request. The benchmark measures it
/// if the package was added to this one (README).
final class PrometheusHistogram: Contender {
    let name = "swift-prometheus: a histogram found by labels"
    private let registry = PrometheusCollectorRegistry()
    private let bounds: [Duration] = [5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000].map { .milliseconds($0) }

    func prepare() {}

    func run(_ operations: Int) {
        for number in 0..<operations {
            let histogram = registry.makeDurationHistogram(
                name: "http_client_request_duration_seconds",
                labels: [
                    ("http_request_method", "GET"), ("server_address", "api.example.com"),
                    ("url_template", "/users/{id}/orders"), ("http_response_status_code", "200"),
                ], buckets: bounds)
            histogram.recordNanoseconds(Int64(number))
        }
    }
}
#endif
