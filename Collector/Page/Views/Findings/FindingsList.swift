import MartletFindings
import MartletReports
import MartletStorage
import MartletTelemetry

/// What happened in the window of a view, in sentences, the most expensive first.
struct FindingsList: Sendable {
    let pageRequest: PageRequest
    let answer: FindingsAnswer
    private let trends: FindingTrends

    /// - Throws: the store's error.
    init(_ pageRequest: PageRequest, _ answer: FindingsAnswer, in storage: some Storage) async throws {
        self.pageRequest = pageRequest
        self.answer = answer
        trends = try await FindingTrends(answer.findings, pageRequest, in: storage)
    }

    var isEmpty: Bool { answer.findings.isEmpty }

    @HTMLBuilder var html: HTML {
        element("section", .class("lead-in" + tone), .label("Findings")) {
            element("h1") {
                icon.html
                sentence
            }
            for note in notes { element("p") { note } }
        }
        if !isEmpty {
            element("section", Attribute("aria-labelledby", "h-findings")) {
                element("h2", .id("h-findings"), .class("vh")) { "Findings" }
                element("ol", .class("findings")) {
                    for finding in answer.findings {
                        FindingItem(pageRequest: pageRequest, finding: finding, bars: trends.bars(of: finding)).html
                    }
                }
                commandLine
            }
        }
    }

    private var tone: String { !isEmpty ? "" : answer.isComplete ? " good" : " warn" }

    private var icon: Icon { !isEmpty ? .up : answer.isComplete ? .good : .part }

    private var isWhole: Bool { answer.count <= answer.findings.count }

    private var ongoing: Int { answer.findings.count(where: \.isOpen) }

    private var sentence: String {
        let window = pageRequest.window.length == 3_600_000_000_000 ? "this hour" : "this window"
        if isEmpty { return answer.isComplete ? "No findings in \(window)" : "No findings so far" }
        let happened = "\(FigureText.counted(max(answer.count, answer.findings.count), "thing")) happened in \(window)"
        guard isWhole, ongoing > 0 else { return happened }
        if answer.findings.count == 1 { return happened + " and is ongoing" }
        return happened + ", \(ongoing) \(ongoing == 1 ? "is" : "are") ongoing"
    }

    private var notes: [String] {
        var notes: [String] = []
        if !isWhole {
            notes.append("The \(answer.findings.count) most expensive are shown, \(ongoing) of them ongoing.")
        }
        if isEmpty, let end = answer.quietSince { notes.append("The last one ended at \(moment(end)).") }
        if !answer.isComplete {
            notes.append(
                "Findings may be missing: the collector has just started, or the window begins more than 30 days ago.")
        }
        return notes
    }

    /// Returns a time of the window's last day without its day.
    private func moment(_ time: UnixNanoseconds) -> String {
        let (day, clock) = (ClockText.day(time), ClockText.time(time))
        return day == ClockText.day(pageRequest.window.to) ? clock : "\(clock) on \(day)"
    }

    private var commandLine: HTML {
        let parameters = pageRequest.parameters(for: FindingsParameter.self, leavingOut: [.kind])
        return CommandLine(
            pageRequest, "findings", parameters.commandFlags,
            formats: [("JSON", PageAddress("/api/v1/findings", parameters.query))]
        ).html
    }
}

extension PageRequest {
    /// The question for what happened in the view's window, with its filters.
    package var findingsQuestion: FindingsQuestion { FindingsQuestion(window: window, filter: filter) }
}
