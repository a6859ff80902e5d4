import MartletReports
import MartletStorage
import MartletTelemetry

extension Endpoint {
    /// The method and the endpoint, or another selected value.
    var title: String {
        let (method, endpoint) = (text(of: .method), text(of: .endpoint))
        guard endpoint.isEmpty else { return method.isEmpty ? endpoint : "\(method) \(endpoint)" }
        let rest = [method, text(of: .host), text(of: .service)].filter { !$0.isEmpty }
        return rest.first ?? (kind == .client ? "All requests made" : "All requests served")
    }

    var heading: HTML {
        HTML.joined([
            crumbs,
            element("header", .class("title")) {
                element("div") {
                    element("h1") {
                        if text(of: .endpoint).isEmpty {
                            element("span", .class("tpl")) { title }
                        } else {
                            if !text(of: .method).isEmpty {
                                element("span", .class("method")) { text(of: .method) }
                            }
                            element("span", .class("tpl")) { text(of: .endpoint) }
                        }
                    }
                    if totals.measures != nil, namesEndpoint || !text(of: .service).isEmpty {
                        element("p", .class("sub")) { ends }
                    }
                    restriction
                    sides
                }
                answer
            },
        ])
    }

    private func text(of name: PageParameter) -> String { visit.parameters.all(name).joined(separator: ", ") }

    private var crumbs: HTML {
        element("nav", .class("crumbs"), .label("Path")) {
            link(visit.address(of: .overview)) { "Overview" }
            if namesEndpoint { for service in visit.parameters.all(.service).prefix(1) { visit.service(service) } }
            for host in visit.parameters.all(.host).prefix(1) {
                link(visit.address(of: .overview).with(.host, host)) { HostName.text(host) }
            }
        }
    }

    /// Whether the title is that of an endpoint or of its method or host, and not of a service or of all requests.
    private var namesEndpoint: Bool {
        [PageParameter.method, .host, .endpoint].contains { visit.parameters[$0] != nil }
    }

    /// The services at both ends, but for those that are the title.
    @HTMLBuilder private var ends: HTML {
        let own = namesEndpoint ? Set(versions.filter { $0.kind == kind }.map(\.service)).sorted() : []
        let host = text(of: .host)
        services(kind == .client ? "called by" : "served by", own, kind)
        if visit.parameters[.host] != nil {
            " at "
            element("span", .class("mono")) { HostName.text(host) }
        }
        if !other.services.isEmpty {
            ", "
            services(kind == .client ? "served by" : "called by", other.services, kind == .client ? .server : .client)
        }
    }

    /// Some services of a side. Each opens its own counts of the same endpoint.
    @HTMLBuilder private func services(_ word: String, _ names: [String], _ side: RequestKind) -> HTML {
        let shown = 4
        if names.isEmpty {
            side == .client ? "requests made" : "requests served"
        } else {
            "\(word) "
            for (index, name) in names.prefix(shown).enumerated() {
                index > 0 ? ", " : ""
                let address = visit.selected(.endpoint).with([(.service, name), (.kind, side.rawValue)])
                link(side == kind ? address : other.address(address)) { name }
            }
            names.count > shown ? " and \(names.count - shown) more" : ""
        }
    }

    /// Filters that the title does not name, each with a link that leaves it out.
    private var restriction: HTML {
        let names: [PageParameter] = [.status, .error, .rule, .version, .instance]
        let given = names.filter { visit.parameters[$0] != nil }
        guard !given.isEmpty else { return .none }
        return element("p", .class("sub")) {
            "only "
            for (index, name) in given.enumerated() {
                (index > 0 ? ", " : "") + "\(name.rawValue) \(text(of: name)) "
                link(visit.here.with(name, nil)) { "show all" }
            }
        }
    }

    /// The choice between requests made and served, if the selection has both.
    private var sides: HTML {
        guard hasBothKinds else { return .none }
        return element("nav", .class("tabs"), .label("Side of the requests")) {
            for (title, side) in [("Made", RequestKind.client), ("Served", .server)] {
                HTML(
                    "a",
                    (side == kind ? [Attribute("aria-current", "true")] : [])
                        + [.href(visit.here.with(.kind, side.rawValue))], content: HTML(title))
            }
        }
    }

    /// The verdict, and the change against the window before if the verdict names none.
    @HTMLBuilder private var answer: HTML {
        if judgement != nil || change != nil {
            element("div", .class("answer")) {
                if let (verdict, base) = judgement {
                    VerdictCell.html(verdict)
                    if let since { element("span", .class("why since")) { since } }
                    element("span", .class("why")) { "compared with \(base)" }
                }
                if let change, judgement.map({ VerdictText.changes($0.verdict).isEmpty }) ?? true {
                    element("span", .class("why")) { change }
                    if judgement?.base != "the \(windowBefore.text)" {
                        element("span", .class("why")) { "against the \(windowBefore.text)" }
                    }
                }
            }
        }
    }

    private var judgement: (verdict: Verdict, base: String)? {
        guard let comparison = compared?.compare, let verdict = compared?.rows.first?.verdict else { return nil }
        return (verdict, ComparisonBaseText.noun(comparison))
    }

    /// The time of the change, and the version that came at that time.
    private var since: String? {
        guard let changed = compared?.rows.first?.changed else { return nil }
        let text = changed.text { ClockText.moment($0, in: window) }
        guard !changed.isFromStart, let from = TimeText.parse(changed.from, now: 0) else { return text }
        let step = TrendStep.fitting(window, slots: Self.slots)
        let came = marks.first { max($0.time, from) - min($0.time, from) <= step }
        return text + (came.map { ", when \($0.label) came" } ?? "")
    }

    private var change: String? {
        guard let measures = totals.measures, let before = measuresBefore else { return nil }
        return
            "failures \(FigureText.percent(before.failures.rate)) → \(FigureText.percent(measures.failures.rate)) %, "
            + "p95 \(Figure.duration(before.latency.p95)) → \(Figure.duration(measures.latency.p95))"
    }
}
