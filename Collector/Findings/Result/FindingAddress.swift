import Foundation

/// The command and the page that show a finding's figures.
enum FindingAddress {
    /// The time before a finding that its figures show as well, in slots: half an hour.
    private static let before = 180

    static func command(_ finding: Finding, _ start: Slot, _ environment: String?) -> String {
        let (name, flags) =
            finding.kind.isOfProcesses ? ("agents", []) : ("report", Self.flags(finding, start, environment))
        let words = flags.flatMap { ["--\($0.name)", quoted($0.value)] }
        return (["martlet-collector", name] + words).joined(separator: " ")
    }

    static func page(_ finding: Finding, _ start: Slot, _ environment: String?) -> String {
        if finding.kind.isOfProcesses { return "/agents?service=" + encoded(finding.subject.service) }
        let path = finding.subject.endpoint == nil ? "/" : "/endpoint"
        let parameters = flags(finding, start, environment).map { "\($0.name)=\(encoded($0.value))" }
        return path + "?" + parameters.joined(separator: "&")
    }

    private static func flags(
        _ finding: Finding, _ start: Slot, _ environment: String?
    ) -> [(name: String, value: String)] {
        let subject = finding.subject
        let values = [
            ("service", subject.service), ("kind", subject.kind?.rawValue), ("method", subject.method),
            ("host", subject.host), ("endpoint", subject.endpoint), ("since", FindingTime.text(start - before)),
            ("environment", environment), ("until", finding.until.map { FindingTime.text($0 + before) }),
        ]
        return values.compactMap { name, value in value.map { (name, $0) } }
    }

    /// Quotes a word for a shell if it needs that.
    private static func quoted(_ word: String) -> String {
        let plain = CharacterSet.alphanumerics.union(CharacterSet(charactersIn: "-_./:@%+,="))
        if word.unicodeScalars.allSatisfy(plain.contains) { return word }
        return "'" + word.replacingOccurrences(of: "'", with: "'\\''") + "'"
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
