import MartletReports
import MartletStorage
import MartletTelemetry

/// Properties of failed requests beside those of all.
struct TraitsTable {
    /// A share among failed requests that stands out, in times of the share among all.
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
            ? "Too little data: \(FigureText.counted(failed, "request")) failed, and \(FailureTrait.fewest) are needed."
            : "Nothing that is counted sets them apart from all requests."
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
        let word = endpoint.kind == .client ? "made" : "served"
        return switch property {
        case .version(let service, let version): "\(word) by \(version.isEmpty ? service : "\(service) \(version)")"
        case .instance(let instance): "\(word) on \(instance)"
        case .slowerThan(let milliseconds): "took longer than \(Figure.duration(milliseconds)), the p95 of all"
        case .connected: "paid for a connection"
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
