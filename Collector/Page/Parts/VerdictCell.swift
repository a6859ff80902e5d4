import MartletReports

/// The answer to whether a row has changed: a sign, a word and the reason.
enum VerdictCell {
    static func html(_ verdict: Verdict) -> HTML {
        HTML.joined([
            element("span", .class("verdict \(name(of: verdict))")) {
                icon(of: verdict).html
                VerdictText.word(verdict)
            },
            element("span", .class("why")) {
                let changes = VerdictText.changes(verdict)
                changes.isEmpty ? VerdictText.why(verdict) : changes
            },
        ])
    }

    /// The class of its colour.
    private static func name(of verdict: Verdict) -> String {
        switch verdict {
        case .worse: "worse"
        case .better: "better"
        case .noChangeFound: "same"
        case .tooLittleData: "few"
        }
    }

    private static func icon(of verdict: Verdict) -> Icon {
        switch verdict {
        case .worse: .up
        case .better: .down
        case .noChangeFound: .same
        case .tooLittleData: .few
        }
    }
}
