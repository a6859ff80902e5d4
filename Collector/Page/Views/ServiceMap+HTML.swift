import MartletReports
import MartletStorage
import MartletTelemetry

extension ServiceMap {
    package var html: HTML {
        let frame = PageFrame(visit: visit, facts: facts)
        let title = "Map: \(visit.titleOfScope)"
        if let empty {
            return frame.document(title, view: .map, hasScope: empty.hasScope) {
                empty.html
                if empty.hasScope { CommandLine(mapOf: visit).html }
            }
        }
        return frame.document(title, view: .map) {
            leadIn
            picture
            EdgesTable(map: self).html
        }
    }

    private var leadIn: HTML {
        element("section", .class("lead-in"), .label("The answer")) {
            element("h1") { report.sentence }
            element("p") { explanation }
        }
    }

    @HTMLBuilder private var explanation: HTML {
        if let worst = report.worst, let sent = worst.sent {
            "No connection was made for them: "
            link(EdgeAddresses(visit: visit, edge: worst).lost) { (worst.lostErrors ?? []).joined(separator: ", ") }
            ". \(worst.caller.name) sent \(FigureText.grouped(sent.count))"
            if let arrived = worst.arrived, !worst.isShared {
                ", \(worst.callee.name) received \(FigureText.grouped(arrived.count))"
            }
            "; each side counts by itself. "
        } else {
            "Each side counts by itself. "
        }
        "A request at an end of the window may be in one count only, and one without an answer may have arrived or not."
    }

    private var picture: HTML {
        element("section", .class("panel flush"), Attribute("aria-labelledby", "h-map")) {
            element("div", .class("bar-head")) {
                element("h2", .id("h-map")) { "Who calls whom" }
                element("p", .class("legend")) {
                    """
                    A number where an edge begins: sent, as the caller counted. Where it ends: arrived, as the server counted. \
                    Red: lost requests, or \(Int(CallEdge.failing * 100)) % failed or more. Dashed box: no agent known there.
                    """
                }
            }
            element(
                "div", .class("scroll"), Attribute("tabindex", "0"), .role("region"),
                Attribute("aria-labelledby", "h-map")
            ) { MapTexts(map: self).html }
            if report.edgeCount > Self.maxDrawn {
                element("p", .class("hint")) {
                    """
                    \(Self.maxDrawn) of \(FigureText.grouped(UInt64(report.edgeCount))) edges: those with lost requests, then \
                    those with the most requests.
                    """
                }
            }
        }
    }
}
