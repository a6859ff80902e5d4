import MartletTelemetry

/// The requests of every service as metrics for Prometheus, under the names that the semantic conventions' metrics have in
/// Prometheus.
package struct PrometheusRequests: Sendable {
    private typealias Series = (labels: PrometheusLabels, total: RequestTotals.Total)

    private let clients: [Series]
    private let servers: [Series]

    package init(_ totals: RequestTotals, at now: ContinuousClock.Instant) {
        let totals = totals.samples(at: now)
        clients = Self.series(of: .client, in: totals)
        servers = Self.series(of: .server, in: totals)
    }

    /// The page in small parts, because it may have some 20 MB.
    package var parts: some Sequence<String> {
        let families =
            clients.isEmpty
            ? [] : Self.families("http_client", bytes: \.bytesSent, \.bytesReceived).map { ($0, clients) }
        let more =
            servers.isEmpty
            ? [] : Self.families("http_server", bytes: \.bytesReceived, \.bytesSent).map { ($0, servers) }
        return (families + more).lazy.flatMap { family, series in
            [family.head].lazy + series.lazy.map { family.text(of: $0) }
        }
    }

    private struct Family: Sendable {
        var head: String
        var write: @Sendable (inout PrometheusText, Series) -> Void

        init(
            _ name: String, _ kind: PrometheusText.Kind, _ help: String,
            write: @escaping @Sendable (inout PrometheusText, Series) -> Void
        ) {
            var text = PrometheusText()
            text.begin(name, kind, help)
            head = text.text
            self.write = write
        }

        func text(of series: Series) -> String {
            var text = PrometheusText()
            write(&text, series)
            return text.text
        }
    }

    private typealias Bytes = KeyPath<RequestTotals.Total, UInt64> & Sendable

    private static func families(_ prefix: String, bytes request: Bytes, _ response: Bytes) -> [Family] {
        let duration = "\(prefix)_request_duration_seconds"
        let sizes = [("request", request), ("response", response)].map { side, bytes in
            let name = "\(prefix)_\(side)_body_size_bytes_total"
            return Family(name, .counter, "Bytes of \(side) bodies, as far as senders report them.") { text, series in
                text.add(name, series.total[keyPath: bytes], series.labels)
            }
        }
        let durations = Family(duration, .histogram, "Duration of requests.") { text, series in
            text.add(duration, series.total.duration, series.labels)
        }
        return [durations] + sizes
    }

    /// Returns the series of a kind. If a service has metrics of requests to a system in an environment, its series of spans are
    /// left out, because they report the same requests. The service `{other}` keeps both, because it includes services with and
    /// without metrics.
    private static func counted(
        _ kind: RequestKind, in totals: [RequestTotals.Series: RequestTotals.Total]
    ) -> [RequestTotals.Series: RequestTotals.Total] {
        let series = totals.filter { $0.key.dimensions.kind == kind }
        let measured = Set(
            series.lazy.filter {
                $0.key.dimensions.source == .metrics && $0.value.duration.count > 0 && $0.key.service != .other
            }.map { Measured($0.key) })
        return series.filter { $0.key.dimensions.source == .metrics || !measured.contains(Measured($0.key)) }
    }

    /// The requests of a service to a system.
    private struct Measured: Hashable {
        let service: RequestTotals.Service
        let system: String?

        init(_ series: RequestTotals.Series) { (service, system) = (series.service, series.dimensions.system) }
    }

    private static func series(
        of kind: RequestKind, in totals: [RequestTotals.Series: RequestTotals.Total]
    ) -> [Series] {
        // Series that differ only in characters that labels cannot hold are merged, because Prometheus rejects duplicate samples.
        var merged: [PrometheusLabels: RequestTotals.Total] = [:]
        for (series, total) in counted(kind, in: totals) {
            merged[PrometheusLabels(series), default: RequestTotals.Total()].add(total)
        }
        return merged.map { ($0.key, $0.value) }.sorted { $0.labels.text < $1.labels.text }
    }
}

extension PrometheusLabels {
    fileprivate init(_ series: RequestTotals.Series) {
        let dimensions = series.dimensions
        self = [
            "service_name": series.service.name,
            "deployment_environment_name": series.service.environment,
            "http_request_method": dimensions.method,
            "server_address": dimensions.host,
            "server_port": dimensions.port > 0 ? "\(dimensions.port)" : nil,
            dimensions.kind == .client ? "url_template" : "http_route": dimensions.endpoint,
            "http_response_status_code": dimensions.status.map(String.init),
            "error_type": dimensions.error,
            "martlet_system": dimensions.system,
            "martlet_rule": dimensions.rule,
            "martlet_source": dimensions.source == .metrics ? nil : dimensions.source.rawValue,
        ]
    }
}
