import Foundation
import MartletReports

/// The command and the page that show a finding's figures.
enum FindingAddress {
    /// The time before a finding that its figures show as well, in slots: half an hour.
    private static let before = 180

    static func command(_ finding: Finding, _ start: Slot, _ environment: String?) -> String {
        let flags = flags(finding, start, environment).map { CommandFlag($0.name, $0.value) }
        return CommandText.text(finding.kind.isOfProcesses ? "agents" : "report", flags)
    }

    static func page(_ finding: Finding, _ start: Slot, _ environment: String?) -> String {
        let path = finding.kind.isOfProcesses ? "/agents" : finding.subject.endpoint == nil ? "/" : "/endpoint"
        let parameters = flags(finding, start, environment).map { "\($0.name)=\(encoded($0.value))" }
        return path + "?" + parameters.joined(separator: "&")
    }

    private static func flags(
        _ finding: Finding, _ start: Slot, _ environment: String?
    ) -> [(name: String, value: String)] {
        let isOfProcesses = finding.kind.isOfProcesses
        let subject = isOfProcesses ? FindingSubject(service: finding.subject.service) : finding.subject
        // Processes are listed from a time until now.
        let until = isOfProcesses ? nil : finding.until
        let values = [
            ("service", subject.service), ("kind", subject.kind?.rawValue), ("method", subject.method),
            ("host", subject.host), ("endpoint", subject.endpoint), ("since", FindingTime.text(start - before)),
            ("environment", environment), ("until", until.map { FindingTime.text($0 + before) }),
        ]
        return values.compactMap { name, value in value.map { (name, $0) } }
    }

    private static func encoded(_ text: String) -> String {
        let plain = CharacterSet(charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
        return text.addingPercentEncoding(withAllowedCharacters: plain) ?? text
    }
}

extension FindingKind {
    /// Whether it is about processes and not about requests.
    fileprivate var isOfProcesses: Bool {
        switch self {
        case .ended, .starved, .silent, .lost, .memory: true
        case .hung, .calls, .newError, .retries, .failing, .slow: false
        }
    }
}
