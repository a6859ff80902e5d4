/// Open findings as a metric for Prometheus.
package enum PrometheusFindings {
    /// The open findings of a kind in an environment.
    package struct Sample {
        /// Empty for senders without one.
        package var environment: String
        package var kind: String
        package var count: Int

        package init(environment: String, kind: String, count: Int) {
            (self.environment, self.kind, self.count) = (environment, kind, count)
        }
    }

    /// - Parameter samples: one for each kind of each environment, also for 0, so that an alert ends.
    package static func text(of samples: [Sample]) -> String {
        var text = PrometheusText()
        text.begin("martlet_findings", .gauge, "Findings that go on, by kind.")
        // Environments that differ only in characters that labels cannot hold are merged, because Prometheus rejects duplicate
        // samples.
        let counts = Dictionary(samples.map { (PrometheusLabels($0), $0.count) }, uniquingKeysWith: +)
        for (labels, count) in counts.sorted(by: { $0.key.text < $1.key.text }) {
            text.add("martlet_findings", count, labels)
        }
        return text.text
    }
}

extension PrometheusLabels {
    fileprivate init(_ sample: PrometheusFindings.Sample) {
        self = ["deployment_environment_name": sample.environment, "kind": sample.kind]
    }
}
