import MartletReports
import MartletStorage
import MartletTelemetry

/// Properties of failed requests, compared with those of all requests.
struct TraitsTable {
    /// A property is highlighted if its share among failed requests is this many times its share among all.
    private static let outstanding = 1.5

    let endpoint: Endpoint

    var html: HTML {
        let failed = endpoint.requests.failed.requests
        guard failed > 0 else { return .none }
        return HTML.joined([
            element("div", .class("bar-head gap")) {
                element("h2", .id("h-traits")) { "What failed requests have in common" }
            },
            endpoint.traits.isEmpty ? element("p", .class("hint")) { none(failed) } : table,
        ])
    }

    private func none(_ failed: UInt64) -> String {
        failed < FailureTrait.fewest
            ? "Not enough data: \(FigureText.counted(failed, "request")) failed, \(FailureTrait.fewest) needed."
            : "No counted property is more common among failed requests."
    }

    private var table: HTML {
        DataTable.html("grid cards stands", heading: "h-traits") {
            DataTable.head {
                DataTable.title("first", "Among the failed")
                for title in ["Of all %", "Of failed %", "Times"] { DataTable.title("num", title) }
            }
            DataTable.body { for trait in endpoint.traits { row(trait) } }
        }
    }

    private func row(_ trait: FailureTrait) -> HTML {
        DataTable.row {
            DataTable.name { element("span", .class("tpl")) { text(trait.property) } }
            share("of all %", trait.ofAll, isBad: false, requests(trait.property))
            share(
                "of failed %", trait.ofFailed, isBad: trait.times >= Self.outstanding,
                requests(trait.property)?.with(.failed, "true"))
            DataTable.cell("times", "num") { "× \(FigureText.figure(trait.times))" }
        }
    }

    private func share(_ label: String, _ share: Double, isBad: Bool, _ address: PageAddress?) -> HTML {
        DataTable.cell(label, "num barred") {
            if let address {
                link(address) { FigureText.fixed(share * 100, 1) }
            } else {
                element("span") { FigureText.fixed(share * 100, 1) }
            }
            ShareBar.html(share, isBad: isBad)
        }
    }

    private func text(_ property: FailureTrait.Property) -> String {
        let word = endpoint.kind == .client ? "sent" : "served"
        return switch property {
        case .version(let service, let version): "\(word) by \(version.isEmpty ? service : "\(service) \(version)")"
        case .instance(let instance): "\(word) by instance \(instance)"
        case .slowerThan(let milliseconds): "took longer than \(Figure.duration(milliseconds)), the p95 of all"
        case .connected: "opened a new connection"
        }
    }

    /// The requests with a property; `nil` if no address selects them.
    private func requests(_ property: FailureTrait.Property) -> PageAddress? {
        let all = endpoint.requestsAddress
        return switch property {
        case .version(let service, let version):
            version.isEmpty ? all.with(.service, service) : all.with([(.service, service), (.version, version)])
        case .instance(let instance): all.with(.instance, instance)
        case .slowerThan(let milliseconds):
            milliseconds < 1e15 ? all.with(.slowerThan, "\(UInt64(milliseconds.rounded()))ms") : nil
        case .connected: nil
        }
    }
}

/// A property of some requests, with its share among all requests and among the failed ones.
struct FailureTrait: Sendable, Equatable {
    /// The minimum number of failed requests for a comparison with all requests. Fewer show little.
    static let fewest: UInt64 = 10
    /// The maximum number of rows.
    private static let most = 6

    enum Property: Sendable, Hashable {
        case version(service: String, String)
        case instance(String)
        /// Slower than the p95 of all requests, in milliseconds.
        case slowerThan(Double)
        case connected
    }

    let property: Property
    /// 0...1.
    let ofAll: Double
    let ofFailed: Double
    var times: Double { ofAll > 0 ? ofFailed / ofAll : 0 }

    /// Returns the properties that are more frequent among failed requests, those with the largest difference first.
    ///
    /// - Parameters:
    ///   - requests: all requests.
    ///   - senders: the same requests by service, version and instance.
    static func all(of requests: RequestGroup, senders: StatisticsAnswer) -> [FailureTrait] {
        guard requests.failed.requests >= fewest else { return [] }
        let all = [connected(requests), slow(requests)].compactMap { $0 } + versions(senders) + instances(senders)
        return Array(all.filter { $0.isOutstanding(among: requests.failed.requests) }.sorted(by: isBefore).prefix(most))
    }

    /// Whether the share among failed requests exceeds the share among all by more than chance explains: by two standard errors
    /// of a sample of that size.
    private func isOutstanding(among failed: UInt64) -> Bool {
        let error = (ofAll * (1 - ofAll) / Double(failed)).squareRoot()
        return ofFailed - ofAll > 2 * error
    }

    /// Sorts properties with equal differences by name, so that they keep their places when the page refreshes.
    private static func isBefore(_ one: FailureTrait, _ other: FailureTrait) -> Bool {
        let (first, second) = (one.ofFailed - one.ofAll, other.ofFailed - other.ofAll)
        return first == second ? "\(one.property)" < "\(other.property)" : first > second
    }

    private init(_ property: Property, all: (UInt64, of: UInt64), failed: (UInt64, of: UInt64)) {
        self.property = property
        ofAll = Double(all.0) / Double(max(1, all.of))
        ofFailed = Double(failed.0) / Double(max(1, failed.of))
    }

    private static func connected(_ requests: RequestGroup) -> FailureTrait? {
        let (all, failed) = (requests.statistics.phases[.connect].count, requests.failed.phases[.connect].count)
        guard all > 0 else { return nil }
        return FailureTrait(
            .connected, all: (all, of: requests.count), failed: (failed, of: requests.failed.requests))
    }

    private static func slow(_ requests: RequestGroup) -> FailureTrait? {
        guard let bound = requests.statistics.duration.quantile(0.95) else { return nil }
        func slower(_ histogram: ExponentialHistogram) -> UInt64 {
            histogram.count - histogram.countOfValues(upTo: bound)
        }
        let (succeeded, failed) = (slower(requests.succeeded.duration), slower(requests.failed.duration))
        return FailureTrait(
            .slowerThan(bound * 1000), all: (succeeded + failed, of: requests.count),
            failed: (failed, of: requests.failed.requests))
    }

    private static func versions(_ senders: StatisticsAnswer) -> [FailureTrait] {
        traits(senders) { values in .version(service: values[0] ?? "", values[1] ?? "") }
    }

    private static func instances(_ senders: StatisticsAnswer) -> [FailureTrait] {
        traits(senders) { values in .instance(values[2] ?? "") }
    }

    /// A property that all requests share explains nothing.
    private static func traits(_ senders: StatisticsAnswer, _ property: ([String?]) -> Property) -> [FailureTrait] {
        var sums: [Property: (all: UInt64, failed: UInt64)] = [:]
        for group in senders.groups {
            let sum = sums[property(group.values)] ?? (0, 0)
            sums[property(group.values)] = (sum.all + group.count, sum.failed + group.failed.requests)
        }
        guard sums.count > 1 else { return [] }
        let (all, failed) = (sums.values.reduce(0) { $0 + $1.all }, sums.values.reduce(0) { $0 + $1.failed })
        return sums.map { FailureTrait($0, all: ($1.all, of: all), failed: ($1.failed, of: failed)) }
    }
}
