import MartletFindings
import MartletReports

/// The body of a message: a text for people, which chat services show, and the finding for programs.
struct FindingMessage: Encodable {
    private let text: String
    /// `nil` in a test message.
    private let finding: Finding?

    private enum CodingKeys: String, CodingKey { case text, finding }

    /// - Parameter isKnown: whether the receiver knows that it is open.
    init(_ watched: WatchedFinding, isKnown: Bool = false) {
        (finding, text) = (watched.finding, Self.text(watched, isKnown))
    }

    private init(text: String) { (self.text, finding) = (text, nil) }

    /// The message that shows whether a receiver can be reached.
    static let test = FindingMessage(text: "This is a test by martlet-collector. Nothing has happened.")

    func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(text, forKey: .text)
        try values.encode(finding, forKey: .finding)
    }

    var json: String { get throws { try ReportJSON.text(of: self) } }

    private static func text(_ watched: WatchedFinding, _ isKnown: Bool) -> String {
        let environment = watched.environment.map { "[\($0)] " } ?? ""
        let title = watched.finding.title
        let text =
            switch watched.removal {
            case .part(let other): "Part of another finding: \(title). The other one: \(other)"
            case .withdrawn: "Withdrawn: \(title)"
            case nil where watched.finding.isOpen: (isKnown ? "Now: " : "") + title
            case nil: "Ended: " + title
            }
        return plain(environment + text)
    }

    /// Returns a text in which chat services find no link and nobody to notify, such as `<!channel>` and `@here`. A title has
    /// paths and hosts, and those come from whoever sends requests.
    private static func plain(_ text: String) -> String {
        text.replacing("<", with: "‹").replacing(">", with: "›").replacing("@", with: "@\u{200b}")
    }
}
