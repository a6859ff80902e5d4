import MartletReports
import MartletStorage
import MartletTelemetry

extension Endpoint {
    package var html: HTML {
        PageFrame(visit: visit, facts: facts).document("\(title): \(visit.titleOfScope)", view: nil) {
            heading
            rules.html
            if totals.measures == nil { processes?.html(requests(in:)) ?? .none }
            if let measures = totals.measures {
                figures(measures)
            } else {
                EmptySelection(endpoint: self).html
            }
            CommandLine(endpoint: self).html
        }
    }

    /// The requests that the view shows.
    var requestsAddress: PageAddress {
        visit.selected(PageAddress("/requests")).with(.kind, kind.rawValue)
    }

    /// The requests of a part of the window.
    func requests(in part: TimeWindow) -> PageAddress {
        let window = part.inWholeSeconds
        return requestsAddress.with([
            (.since, TimeText.format(window.from)), (.until, TimeText.format(window.to)),
        ])
    }

    @HTMLBuilder private func figures(_ measures: RequestMeasures) -> HTML {
        element("section", Attribute("aria-labelledby", "h-totals")) {
            element("h2", .id("h-totals"), .class("vh")) { "Totals" }
            TotalsStrip(totals: totals, before: measuresBefore, requests: requestsAddress).html
        }
        processes?.html(requests(in:)) ?? .none
        element("div", .class("two")) {
            RateChart(slots: totals.slots, axis: axis, requests: requests(in:)).html
            QuantileChart(slots: totals.slots, axis: axis, requests: requests(in:)).html
        }
        HeatMapChart(
            map: heatMap, kept: keptCells, slots: totals.slots, axis: axis, requests: requests(in:)
        ).html
        SidesSection(endpoint: self).html
        BeforeSection(endpoint: self, measures: measures).html
        element("div", .class("two")) {
            FailuresTable(endpoint: self).html
            element("section", Attribute("aria-labelledby", "h-versions")) {
                VersionsTable(endpoint: self).html
                TraitsTable(endpoint: self).html
            }
        }
        ExamplesSection(endpoint: self).html
    }

    /// Returns the parameters of a report about the requests of the view.
    func selection(leavingOut names: Set<PageParameter> = []) -> ReportParameters {
        var parameters = visit.parameters(
            for: ReportParameter.self, leavingOut: names.union([.kind, .sort, .ascending, .top, .compare]))
        // The side of a selection without requests is a guess.
        parameters.add(.kind, totals.measures == nil ? visit.parameters[.kind] : kind.rawValue)
        return parameters
    }

    /// The figures of the window before; `nil` if it has no requests.
    var measuresBefore: RequestMeasures? {
        before.flatMap { $0.isEmpty ? nil : $0.measures(seconds: window.seconds) }
    }
}

extension Visit {
    /// Returns an address with this view's window and all of its filters.
    func selected(_ address: PageAddress) -> PageAddress {
        parameters.values.filter { PageParameter.scope.contains($0.name) || $0.name.filteredDimension != nil }
            .reduce(address) { $0.adding($1.name, $1.value) }
    }
}

extension CommandLine {
    /// The failures and versions of an endpoint as a command and as answers of the API, and its comparison likewise.
    init(endpoint: Endpoint) {
        var parameters = endpoint.selection()
        let selection = parameters.query
        for dimension in [.version, .status, .error] as [Dimension] { parameters.add(.by, dimension.rawValue) }
        visit = endpoint.visit
        commands = [("report", parameters.commandFlags)]
        let processes = endpoint.processes.map { _ in
            (
                "JSON of processes",
                PageAddress("/api/v1/process", endpoint.visit.parameters(for: ProcessParameter.self).query)
            )
        }
        formats =
            [
                ("JSON", PageAddress("/api/v1/report", parameters.query)),
                ("JSON over time", PageAddress("/api/v1/series", selection).adding("by", Dimension.kind.rawValue)),
            ] + [processes].compactMap(\.self)
        guard let comparison = Endpoint.comparison(endpoint.visit, endpoint.kind) else { return }
        commands.append(("report", comparison.commandFlags))
        formats.append(("JSON of the comparison", PageAddress("/api/v1/report", comparison.query)))
    }
}
