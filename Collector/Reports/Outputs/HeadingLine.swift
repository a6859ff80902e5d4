import MartletStorage
import MartletTelemetry

/// The first lines above a table: the answer in a sentence, and the window and its data.
struct HeadingLine {
    let report: any WindowReport
    let context: ReportContext
    let device: OutputDevice

    /// Returns the answer, and its circumstances at the right of a terminal that has the room for both.
    func lines(_ answer: String?) -> [String] {
        let parts = circumstances
        let painted = parts.map { device.paint($0.text, $0.tone) }.joined(separator: ", ")
        guard let answer else { return [painted] }
        let taken = TextWidth.of(answer) + TextWidth.of(parts.map(\.text).joined(separator: ", "))
        let room = (device.columns ?? 0) - taken
        let shown = device.paint(answer, .bold)
        return room < 4 ? [shown, painted] : [shown + String(repeating: " ", count: room) + painted]
    }

    private var circumstances: [(text: String, tone: Tone?)] {
        var parts: [(text: String, tone: Tone?)] = []
        let environments = context.flags.filter { $0.name == Dimension.environment.rawValue }.compactMap(\.value)
        if !environments.isEmpty {
            let names = environments.map { $0.isEmpty ? "no environment" : TerminalText.plain($0) }
            parts.append((names.joined(separator: " and "), .dim))
        }
        parts.append((WindowText.sentence(of: report, now: context.now), .dim))
        parts.append(completeness)
        if let latest = report.lastSeen.flatMap({ TimeText.parse($0, now: 0) }) {
            let isOff = context.now.map { WindowText.isOff(latest: latest, now: $0) } ?? false
            parts.append((WindowText.freshness(latest: latest, now: context.now), isOff ? .yellow : .dim))
        }
        return parts
    }

    private var completeness: (text: String, tone: Tone?) {
        guard let share = report.completeness else { return ("completeness unknown", .yellow) }
        guard share < 1 else { return ("complete (100 %)", .green) }
        return ("incomplete (\(FigureText.completeness(share)))", .yellow)
    }
}
