import MartletStorage
import MartletTelemetry

/// The explanation of a report without rows, and the command that helps next.
package struct EmptyAnswer {
    /// The latest data that the collector has.
    package enum History: Sendable, Equatable {
        /// Nobody looked.
        case unknown
        case nobodyEverSent
        /// The time at which the latest data came, and the service and instance that sent it.
        case latest(UnixNanoseconds, sender: String)
    }

    /// The window that is tried next, long enough for most data that is kept.
    private static let wide = "7d"

    private let report: Report
    private let context: ReportContext

    /// Returns one or two lines: why there is nothing, and a command to copy.
    package static func sentence(of report: Report, _ context: ReportContext) -> String {
        let answer = EmptyAnswer(report: report, context: context)
        if context.history == .nobodyEverSent { return answer.nobody }
        if let names = context.names.first(where: { !$0.isKnown }) { return answer.unknown(names) }
        if case .latest(let time, let sender) = context.history, answer.isBefore(time) {
            return answer.earlier(time, sender)
        }
        return answer.nothing
    }

    private var nobody: String {
        "Nobody ever sent anything to this collector. A service sends to the address in MARTLET_ENDPOINT.\n"
            + command("agents", source)
    }

    private func unknown(_ names: Names) -> String {
        let wanted = TerminalText.plain(names.wanted)
        guard let list = names.list else {
            return "No \(names.flag) is called \(wanted), and none is known.\n"
        }
        var text = "No \(names.flag) is called \(wanted). \(list)"
        guard let nearest = names.nearest else { return text + ".\n" }
        text += "; nearest: \(TerminalText.plain(nearest))\n"
        return text + command("report", context.flags.map { corrected($0, names, nearest) })
    }

    /// Returns a flag with the nearest name instead of the one that nobody knows.
    private func corrected(_ flag: CommandFlag, _ names: Names, _ nearest: String) -> CommandFlag {
        if flag.name == names.flag, flag.value == names.wanted { return CommandFlag(flag.name, nearest) }
        guard flag.name == ReportParameter.compare.rawValue, names.flag == Dimension.version.rawValue,
            let versions = ComparisonBase.versions(in: flag.value)
        else { return flag }
        let before = versions.before == names.wanted ? nearest : versions.before
        let after = versions.after == names.wanted ? nearest : versions.after
        return CommandFlag(flag.name, ComparisonBase.versions(before: before, after: after).text)
    }

    private func isBefore(_ time: UnixNanoseconds) -> Bool {
        TimeText.parse(report.from, now: 0).map { time <= $0 } ?? false
    }

    /// Returns an hour up to the time at which the latest data came. It may have come some minutes after its requests.
    package static func window(of latest: UnixNanoseconds) -> (since: String, until: String) {
        let minute: UInt64 = 60_000_000_000
        let until = (latest / minute + 1) * minute
        return (TimeText.format(until - min(until, 60 * minute)), TimeText.format(until))
    }

    private func earlier(_ time: UnixNanoseconds, _ sender: String) -> String {
        let (since, to) = Self.window(of: time)
        let age = context.now.map { ", \(FigureText.age((max($0, time) - time) / 1_000_000_000)) ago" } ?? ""
        let moment = context.now.map { WindowText.moment(time, now: $0) + " UTC" } ?? TimeText.format(time)
        return "Nothing came \(window). The latest came at \(moment)\(age), from \(TerminalText.plain(sender)):\n"
            + command("report", [CommandFlag("since", since), CommandFlag("until", to)] + others(["since", "until"]))
    }

    private var nothing: String {
        let filters = NextCommand.selecting(others(["since", "until"])).filter { !source.contains($0) }
        guard filters.isEmpty else {
            let given = filters.map { "--\($0.name) \(ShellWord.quoted($0.value ?? ""))" }.joined(separator: " ")
            let rest = context.flags.filter { !filters.contains($0) }
            return "No request matches \(given) \(window). Without the filter:\n" + command("report", rest)
        }
        guard context.flag("since") != Self.wide else {
            return "No requests \(window). The senders that were heard of:\n" + command("agents", source)
        }
        return "No requests \(window). A longer time:\n"
            + command("report", [CommandFlag("since", Self.wide)] + others(["since", "until"]))
    }

    private var source: [CommandFlag] { NextCommand.ofSource(context.flags) }

    private func others(_ names: [String]) -> [CommandFlag] { context.flags.filter { !names.contains($0.name) } }

    private var window: String {
        let since = context.flag("since") ?? ReportParameter.defaultSince
        if context.flag("until") == nil, let length = TimeText.nanoseconds(since) {
            return "in the last \(FigureText.age(length / 1_000_000_000))"
        }
        return "from \(WindowText.sentence(of: report, now: context.now))"
    }

    private func command(_ subcommand: String, _ flags: [CommandFlag]) -> String {
        "  " + CommandText.text(subcommand, flags) + "\n"
    }
}
