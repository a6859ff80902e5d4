import Foundation
import MartletFindings
import MartletReports
import MartletStorage

/// The addresses that a finding leads to. Each keeps the environment of the view.
struct FindingLinks {
    private let pageRequest: PageRequest
    private let finding: Finding
    /// The view and the parameters of ``Finding/page``.
    private let view: PageAddress
    private let parameters: [(PageParameter, String?)]
    /// The title of ``figures``.
    let figuresTitle: String

    init(_ pageRequest: PageRequest, _ finding: Finding) {
        (self.pageRequest, self.finding) = (pageRequest, finding)
        let parts = finding.page.split(separator: "?", maxSplits: 1)
        parameters = parts.dropFirst().first.map { Self.parameters(of: $0) } ?? []
        switch parts.first.map({ String($0) }) ?? "" {
        case "/agents": (view, figuresTitle) = (.agents, "Processes")
        case "/endpoint": (view, figuresTitle) = (.endpoint, "Endpoint")
        default: (view, figuresTitle) = (.overview, "Service")
        }
    }

    private static func parameters(of query: Substring) -> [(PageParameter, String?)] {
        query.split(separator: "&").compactMap { pair in
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, let name = PageParameter(rawValue: String(parts[0])),
                let value = String(parts[1]).removingPercentEncoding
            else { return nil }
            return (name, value)
        }
    }

    /// The view that shows the figures of the finding.
    var figures: PageAddress { pageRequest.scoped(view).with(parameters) }

    /// The page of another endpoint, or of a service, in the window of ``figures``.
    func endpoint(_ subject: FindingSubject) -> PageAddress { selecting(subject, at: .endpoint) }

    /// The kept requests of the finding, from its beginning to its end.
    var requests: PageAddress {
        var address = selecting(finding.subject, at: .requests)
        if let since = finding.sinceTime { address = address.with(.since, TimeText.format(since)) }
        if let until = finding.untilTime { address = address.with(.until, TimeText.format(until)) }
        switch finding.kind {
        case .failing: return address.with(.failed, "true")
        case .newError:
            guard let form = finding.what.first else { return address }
            return address.with(form.dimension == .status ? .status : .error, form.value)
        default: return address
        }
    }

    private func selecting(_ subject: FindingSubject, at view: PageAddress) -> PageAddress {
        pageRequest.scoped(view).with(parameters.filter { $0.0 == .since || $0.0 == .until }).with([
            (.service, subject.service), (.kind, subject.kind?.rawValue), (.method, subject.method),
            (.host, subject.host), (.endpoint, subject.endpoint),
        ])
    }
}
