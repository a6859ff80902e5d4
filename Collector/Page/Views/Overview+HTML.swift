import MartletReports
import MartletStorage
import MartletTelemetry

extension Overview {
    package var html: HTML {
        let title = "Overview: \(visit.titleOfScope)"
        let frame = PageFrame(visit: visit, facts: facts)
        if let empty {
            return frame.document(title, view: .overview, hasScope: empty.hasScope) { empty.html }
        }
        return frame.document(title, view: .overview) {
            leadIn
            FilterChips(beside: visit).html
            IncompleteNotice(visit: visit, completeness: facts.completeness, incompleteness: incompleteness).html
            element("section", Attribute("aria-labelledby", "h-totals")) {
                element("h2", .id("h-totals"), .class("vh")) {
                    kind == .client ? "All requests made" : "All requests served"
                }
                TotalsStrip(
                    totals: totals, requests: visit.scoped(PageAddress("/requests")).with(.kind, kind.rawValue),
                    bounds: totals.measures.flatMap { incompleteness.bounds($0) }
                ).html
            }
            ServicesTable(visit: visit, services: services, incompleteness: incompleteness).html
            HostsTable(visit: visit, called: hosts).html
            EndpointsTable(overview: self).html
        }
    }

    private var leadIn: HTML {
        element("section", .class("lead-in"), .label("The answer")) {
            element("h1") { sentence }
        }
    }
}

extension Overview {
    private var sentence: String {
        let measures = endpoints.totals.measures
        let word = measures.count == 1 ? "request" : "requests"
        let failed = measures.failures.count == 0 ? "None" : FigureText.grouped(measures.failures.count)
        return "\(failed) of \(FigureText.grouped(measures.count)) \(word) failed"
    }
}

extension Visit {
    /// The window and the environment, as a title has them.
    var titleOfScope: String {
        let window =
            parameters[.until] == nil
            ? "last " + (parameters[.since] ?? PageParameter.defaultSince)
            : "\(TimeText.format(self.window.from)) to \(TimeText.format(self.window.to))"
        return ([window] + parameters.all(.environment) + parameters.all(.service)).joined(separator: ", ")
    }
}
