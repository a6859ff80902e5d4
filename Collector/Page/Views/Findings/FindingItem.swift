import MartletFindings
import MartletReports
import MartletStorage
import MartletTelemetry

/// A finding in a list: the sentence, who and what with it, when, and the ways on.
struct FindingItem {
    /// The maximum number of rows that suffer from it, of carriers, and of forms of failures that are named.
    private static let maxNamed = 4

    let pageRequest: PageRequest
    let finding: Finding
    /// The figures over time; empty if there are none.
    let bars: HTML

    private var links: FindingLinks { FindingLinks(pageRequest, finding) }

    var html: HTML {
        element("li", .class(finding.kind.isBad ? "finding" : "finding info")) {
            element("div", .class("what")) {
                label
                element("h3") { title }
                if !details.isEmpty { element("p", .class("who")) { HTML.joined(details) } }
                if !finding.also.isEmpty { element("p", .class("also")) { also } }
            }
            element("div", .class("evidence")) {
                element("p", .class("times")) { finding.times(in: pageRequest.window) }
                bars
                if !costs.isEmpty { element("p", .class("cost")) { costs } }
            }
            element("p", .class("links")) {
                link(links.figures) { links.figuresTitle }
                link(links.requests) { "Requests kept" }
                element("code", .class("select")) { command }
            }
        }
    }

    private var label: HTML {
        element("p", .class("label")) {
            (finding.kind.isBad ? Icon.up : .part).html
            finding.kind.word
            element("span", .class(finding.isOpen ? "tag bad" : "tag")) { finding.isOpen ? "ongoing" : "over" }
        }
    }

    /// The sentence, in which the name of the subject is a link.
    private var title: HTML {
        let (title, name) = (finding.title, finding.subject.name)
        guard !name.isEmpty, let place = title.firstRange(of: name) else { return link(links.figures) { title } }
        return HTML.joined([
            HTML(String(title[..<place.lowerBound])), link(links.figures) { finding.subject.nameHTML },
            HTML(String(title[place.upperBound...])),
        ])
    }

    // MARK: Who and what

    /// Sentences, each with a space at its end.
    private var details: [HTML] {
        var details = finding.who.prefix(Self.maxNamed).map(sentence)
        if finding.who.isEmpty, finding.kind.isShareOfRequests {
            details.append(HTML(ChangeCarriersText.nobody.capitalizedFirst + ". "))
        }
        if let deployment = finding.deployment {
            let time = ClockText.moment(FindingTime.time(deployment.at), in: pageRequest.window)
            details.append(HTML("Version \(deployment.version)\(owner(finding.who.first)) was first seen at \(time). "))
        }
        if !finding.formsToName.isEmpty { details.append(forms) }
        switch finding.side {
        case .server: details.append(HTML("The server’s own time grew. "))
        case .network: details.append(HTML("The network’s time grew. "))
        case .client: details.append(HTML("The requests waited in the calling process. "))
        case nil: break
        }
        return details
    }

    private func sentence(about carrier: FindingCarrier) -> HTML {
        var shares = ""
        if let bad = carrier.shareOfBad, let all = carrier.shareOfAll {
            let requests = finding.kind == .slow ? "slow requests" : "failed requests"
            shares = ": \(percent(bad)) of the \(requests), \(percent(all)) of all"
        }
        return HTML.joined([
            HTML(carrier.dimension.rawValue.capitalizedFirst + " "), element("b") { carrier.value },
            HTML("\(owner(carrier)) carries it\(shares). "),
        ])
    }

    private func owner(_ carrier: FindingCarrier?) -> String { carrier?.service.map { " of \($0)" } ?? "" }

    /// What the failures were, such as `503 in 520, 504 in 8 of 528 failures`.
    private var forms: HTML {
        let named = finding.what.prefix(Self.maxNamed).enumerated().flatMap { index, form -> [HTML] in
            [
                HTML(index == 0 ? "" : ", "), element("b") { form.value },
                HTML(" in \(FigureText.grouped(UInt64(clamping: form.count)))"),
            ]
        }
        let all = finding.after.map { " of " + FigureText.counted($0.failures, "failure") } ?? ""
        return HTML.joined(named + [HTML(all + ". ")])
    }

    private var also: HTML {
        let named = finding.also.prefix(Self.maxNamed).enumerated().flatMap { index, subject -> [HTML] in
            [
                HTML((index == 0 ? "" : ", ") + (subject.endpoint == nil ? "" : subject.service + " ")),
                link(links.endpoint(subject)) { subject.nameHTML },
                HTML(subject.host.map { " of \($0)" } ?? ""),
            ]
        }
        let more = finding.also.count - Self.maxNamed
        return HTML.joined([HTML(finding.kind.relation + ": ")] + named + [HTML(more > 0 ? " and \(more) more" : "")])
    }

    // MARK: Figures

    private func percent(_ share: Double) -> String {
        "\(share.isFinite ? Int((min(max(share, 0), 1) * 100).rounded()) : 0) %"
    }

    /// What the finding cost people in the window.
    private var costs: String {
        let cost = finding.cost
        var parts: [String] = []
        if cost.requests > 0 { parts.append("\(FigureText.counted(cost.requests, "request")) affected") }
        if cost.seconds > 0 { parts.append("\(FigureText.seconds(cost.seconds)) longer in all") }
        if cost.processes > 0 {
            parts.append(
                "\(FigureText.grouped(UInt64(clamping: cost.processes))) \(cost.processes == 1 ? "process" : "processes")"
            )
        }
        return parts.joined(separator: ", ")
    }

    private var command: String { CommandText.adding(pageRequest.collectorFlags, to: finding.command) }
}

extension Finding {
    var sinceTime: UnixNanoseconds? { since.map(FindingTime.time) }
    var untilTime: UnixNanoseconds? { until.map(FindingTime.time) }

    /// Returns the mark of its beginning in a chart; `nil` if it began outside the window.
    func mark(in window: TimeWindow) -> TimeMark? {
        guard let time = sinceTime, time >= window.from, time < window.to else { return nil }
        return TimeMark(time: time, label: kind.word)
    }

    /// Returns the words for the time of the finding: `since 09:28`, `09:31 to 09:33`.
    func times(in window: TimeWindow) -> String {
        let (since, until) = (sinceTime, untilTime)
        func text(_ time: UnixNanoseconds) -> String { ClockText.moment(time, in: window) }
        return switch (since, until) {
        case (let since?, let until?): since == until ? "at \(text(since))" : "\(text(since)) to \(text(until))"
        case (let since?, nil): "since \(text(since))"
        case (nil, let until?): "until \(text(until))"
        case (nil, nil): "all the time"
        }
    }
}

extension FindingKind {
    /// The name of the kind for people.
    var word: String {
        switch self {
        case .ended: "process ended"
        case .hung: "no answer"
        case .starved: "no thread free"
        case .calls: "calls per request"
        case .silent: "silent"
        case .lost: "lost requests"
        case .memory: "memory grows"
        case .newError: "new error"
        case .retries: "retries"
        case .failing: "failing"
        case .slow: "slow"
        }
    }

    /// Whether something failed, got worse, or stopped.
    fileprivate var isBad: Bool {
        switch self {
        case .starved, .memory, .lost: false
        case .ended, .hung, .calls, .silent, .newError, .retries, .failing, .slow: true
        }
    }

    /// How the rows in ``Finding/also`` are related to the finding.
    fileprivate var relation: String {
        switch self {
        case .slow, .starved: "Wait with it"
        case .calls, .retries: "Calls"
        case .memory, .lost, .silent: "Also"
        case .ended, .hung, .newError, .failing: "Fail with it"
        }
    }
}

extension FindingSubject {
    /// `POST /orders`, or the service if the finding is about all of it.
    var name: String { endpoint.map { [method, $0].compactMap { $0 }.joined(separator: " ") } ?? service }

    @HTMLBuilder var nameHTML: HTML {
        if let endpoint {
            if let method {
                element("span", .class("method")) { method }
                " "
            }
            element("b") { endpoint }
        } else {
            element("b") { service }
        }
    }
}
