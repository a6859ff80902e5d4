import MartletReports
import MartletTelemetry

/// The phases of a request, one after the other.
struct PhasesTable {
    private static let height = 16.0
    /// The share of the width that a bar has at least.
    private static let least = 0.005

    let waterfall: PhaseWaterfall
    /// Milliseconds.
    let duration: Double

    private var axis: WaterfallAxis { WaterfallAxis(upTo: waterfall.scale) }

    var html: HTML {
        element("section", .class("panel"), Attribute("aria-labelledby", "h-phases")) {
            element("div", .class("bar-head")) {
                element("h2", .id("h-phases")) {
                    "Phases "
                    element("small") { "of \(Figure.duration(duration))" }
                }
                SideShape.legend
            }
            element("table", .class("grid waterfall")) {
                element("thead") {
                    element("tr") {
                        element("th", Attribute("scope", "col")) { "Phase" }
                        element("th", Attribute("scope", "col"), .class("num")) { "ms" }
                        element("th", Attribute("scope", "col"), .class("wf")) {
                            element("span", .class("vh")) { "When" }
                            axis.head
                        }
                    }
                }
                element("tbody") { for bar in waterfall.bars { row(bar) } }
            }
        }
    }

    private func row(_ bar: PhaseWaterfall.Bar) -> HTML {
        element("tr") {
            element("th", Attribute("scope", "row")) {
                bar.phase.title
                element("span", .class("sub")) {
                    bar.isUnfinished ? (bar.phase == .firstByte ? "never came" : "never ended") : note(bar.phase)
                }
            }
            element("td", .class("num")) { Figure.milliseconds(bar.length) }
            element("td", .class("wf")) {
                SVG.wide("phase", height: Self.height, .hidden) {
                    axis.grid(to: Self.height + 34)
                    let width = max(Self.least, axis.share(bar.length))
                    SideShape.bar(
                        bar.side, x: min(axis.share(bar.start), 1 - width), y: 2, width: width, height: 11,
                        radius: 1.5)
                }
            }
        }
    }

    private func note(_ phase: RequestPhase) -> String {
        switch phase {
        case .queue: "waiting for the session and a connection"
        case .dns, .connect, .tls: ""
        case .firstByte:
            waterfall.connection == .reused ? "over an open connection" : "sent, and waiting for the server"
        case .transfer: "reading the answer"
        }
    }
}

extension RequestPhase {
    fileprivate var title: String {
        switch self {
        case .queue: "Queue"
        case .dns: "DNS"
        case .connect: "Connect"
        case .tls: "TLS"
        case .firstByte: "First byte"
        case .transfer: "Transfer"
        }
    }
}
