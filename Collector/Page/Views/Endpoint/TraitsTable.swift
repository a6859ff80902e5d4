import MartletReports
import MartletStorage
import MartletTelemetry

/// Who carries a change or the failures. Then what the failures themselves are like, compared with all requests.
struct TraitsTable {
    /// A property is highlighted if its share among failed requests is this many times its share among all.
    private static let outstanding = 1.5
    /// The maximum size of a name, in bytes.
    private static let nameBytes = 200

    let endpoint: Endpoint

    var html: HTML {
        HTML.joined([carriers, traits])
    }

    /// The values that carry the change.
    private var carriers: HTML {
        guard let who = endpoint.who else { return .none }
        return HTML.joined([
            element("div", .class("bar-head gap")) { element("h2", .id("h-who")) { "Who carries it" } },
            who.values.isEmpty ? nobody : table(of: who),
        ])
    }

    private var nobody: HTML { element("p", .class("hint")) { ChangeCarriersText.nobody.capitalizedFirst + "." } }

    private func table(of who: ChangeCarriers) -> HTML {
        DataTable.html("grid cards", heading: "h-who") {
            DataTable.head {
                DataTable.title("first", "Requests of")
                for title in ["Affected", "Of all", "Affected %", "Others %"] { DataTable.title("num", title) }
            }
            DataTable.body { for carrier in who.values { row(carrier) } }
        }
    }

    private func row(_ carrier: ChangeCarriers.Carrier) -> HTML {
        DataTable.row {
            DataTable.name {
                element("span", .class("tpl")) {
                    if let requests = address(of: carrier) {
                        link(requests) { LongText.html(ChangeCarriersText.name(carrier), atMost: Self.nameBytes) }
                    } else {
                        LongText.html(ChangeCarriersText.name(carrier), atMost: Self.nameBytes)
                    }
                }
            }
            DataTable.cell("affected", "num") { FigureText.grouped(carrier.count.affected) }
            DataTable.cell("of all", "num") { FigureText.grouped(carrier.count.requests) }
            DataTable.cell("affected %", "num barred") {
                element("span") { FigureText.percent(carrier.count.rate) }
                ShareBar.html(carrier.count.rate, isBad: true)
            }
            DataTable.cell("others %", "num barred") {
                element("span") { FigureText.percent(carrier.others.rate) }
                ShareBar.html(carrier.others.rate, isBad: false)
            }
        }
    }

    /// The requests with a value; `nil` if no address selects them: the version may have its service in front.
    private func address(of carrier: ChangeCarriers.Carrier) -> PageAddress? {
        let name: PageParameter? =
            switch carrier.property {
            case .version: Set(endpoint.versions.map(\.service)).count > 1 ? nil : .version
            case .instance: .instance
            case .host: .host
            case .caller: .service
            case .endpoint: .endpoint
            }
        return name.map { endpoint.requestsAddress.with($0, carrier.value) }
    }

    private var traits: HTML {
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
            : "They are neither slower than others, nor more often on new connections."
    }

    private var table: HTML {
        DataTable.html("grid cards", heading: "h-traits") {
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
        switch property {
        case .slowerThan(let milliseconds): "took longer than \(Figure.duration(milliseconds)), the p95 of all"
        case .connected: "opened a new connection"
        }
    }

    /// The requests with a property; `nil` if no address selects them.
    private func requests(_ property: FailureTrait.Property) -> PageAddress? {
        guard case .slowerThan(let milliseconds) = property, milliseconds < 1e15 else { return nil }
        return endpoint.requestsAddress.with(.slowerThan, "\(UInt64(milliseconds.rounded()))ms")
    }
}

/// A property of some requests, with its share among all requests and among the failed ones.
struct FailureTrait: Sendable, Equatable {
    /// The minimum number of failed requests for a comparison with all requests. Fewer show little.
    static let fewest: UInt64 = 10

    enum Property: Sendable, Hashable {
        /// Slower than the p95 of all requests, in milliseconds.
        case slowerThan(Double)
        case connected
    }

    let property: Property
    /// 0...1.
    let ofAll: Double
    let ofFailed: Double
    var times: Double { ofAll > 0 ? ofFailed / ofAll : 0 }

    /// Returns the properties that are more frequent among failed requests.
    static func all(of requests: RequestGroup) -> [FailureTrait] {
        guard requests.failed.requests >= fewest else { return [] }
        return [connected(requests), slow(requests)].compactMap { $0 }
            .filter { $0.isOutstanding(among: requests.failed.requests) }
    }

    /// Whether the share among failed requests exceeds the share among all by more than chance explains: by three standard errors
    /// of a sample of that size.
    private func isOutstanding(among failed: UInt64) -> Bool {
        let error = (ofAll * (1 - ofAll) / Double(failed)).squareRoot()
        return ofFailed - ofAll > 3 * error
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
}
