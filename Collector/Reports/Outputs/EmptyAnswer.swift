import MartletStorage
import MartletTelemetry

/// The explanation of an answer without rows, and the command that helps next.
package struct EmptyAnswer {
    /// The latest data that the collector has.
    package enum History: Sendable, Equatable {
        /// Nobody looked.
        case unknown
        case nobodyEverSent
        /// The time at which the latest data came from the senders that the report is about, and the service and instance that sent it.
        case latest(UnixNanoseconds, sender: String)
    }

    /// The window that is tried next, long enough for most data that is kept.
    private static let wide = "7d"

    private let report: any WindowReport
    private let context: ReportContext
    /// The command that was given.
    private let asked: String

    /// Returns one or two lines: why there is nothing, and a command to copy.
    ///
    /// - Parameter command: the command that was given.
    package static func sentence(
        of report: any WindowReport, _ context: ReportContext, for command: String = "report"
    ) -> String {
        let answer = EmptyAnswer(report: report, context: context, asked: command)
        if context.history == .nobodyEverSent { return answer.nobody }
        if let names = context.names.first(where: { !$0.isKnown }) { return answer.unknown(names) }
        guard case .latest(let time, let sender) = context.history else { return answer.nothing }
        if answer.isBefore(time) { return answer.earlier(time, sender) }
        return answer.isOfSendersAlone && answer.isWithin(time) ? answer.uncounted(time, sender) : answer.nothing
    }

    /// A sentence for a collector without any data.
    static let nobody =
        "Nobody ever sent anything to this collector. A service sends to the address in MARTLET_ENDPOINT.\n"

    private var nobody: String { Self.nobody + command("agents", source) }

    private func unknown(_ names: Names) -> String {
        guard let nearest = names.nearest else { return names.sentence + ".\n" }
        return names.sentence + "\n" + command(asked, context.flags.map { corrected($0, names, nearest) })
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

    private func isWithin(_ time: UnixNanoseconds) -> Bool {
        !isBefore(time) && TimeText.parse(report.to, now: 0).map { time <= $0 } ?? false
    }

    /// Whether senders are chosen, and their requests are not restricted.
    private var isOfSendersAlone: Bool { !filters.isEmpty && filters.count == senders.count }

    /// The flags that leave out requests.
    private var filters: [CommandFlag] {
        NextCommand.selecting(others(["since", "until"])).filter { !source.contains($0) }
    }

    private var senders: [CommandFlag] { filters.filter { Dimension(rawValue: $0.name)?.isOfSender ?? false } }

    /// Returns an hour up to the time at which the latest data came. It may have come some minutes after its requests.
    package static func window(of latest: UnixNanoseconds) -> (since: String, until: String) {
        let minute: UInt64 = 60_000_000_000
        let until = (latest / minute + 1) * minute
        return (TimeText.format(until - min(until, 60 * minute)), TimeText.format(until))
    }

    private func earlier(_ time: UnixNanoseconds, _ sender: String) -> String {
        let (since, to) = Self.window(of: time)
        let chosen = senders.isEmpty ? "" : "from \(CommandFlag.text(senders)) "
        return "Nothing came \(chosen)\(window). \(latest(time, sender)):\n"
            + command(asked, [CommandFlag("since", since), CommandFlag("until", to)] + others(["since", "until"]))
    }

    /// The chosen senders send, but no requests that count: spans inside a service, or figures of the process.
    private func uncounted(_ time: UnixNanoseconds, _ sender: String) -> String {
        "No requests came from \(CommandFlag.text(senders)) \(window). \(latest(time, sender)), without requests:\n"
            + command("agents", senders + source)
    }

    private func latest(_ time: UnixNanoseconds, _ sender: String) -> String {
        let age = context.now.map { ", \(FigureText.age((max($0, time) - time) / 1_000_000_000)) ago" } ?? ""
        let moment = context.now.map { WindowText.moment(time, now: $0) + " UTC" } ?? TimeText.format(time)
        return "The latest came at \(moment)\(age), from \(TerminalText.plain(sender))"
    }

    private var nothing: String {
        guard filters.isEmpty else {
            let rest = context.flags.filter { !filters.contains($0) }
            let these = filters.count == 1 ? "the filter" : "these filters"
            return "No request matches \(CommandFlag.text(filters)) \(window). Without \(these):\n"
                + command(asked, rest)
        }
        guard context.flag("since") != Self.wide, !isOld else {
            return "No requests \(window). The senders that were heard of:\n" + command("agents", source)
        }
        return "No requests \(window). A longer time:\n"
            + command(asked, [CommandFlag("since", Self.wide)] + others(["since", "until"]))
    }

    /// Whether the window begins earlier than the one that is tried next.
    private var isOld: Bool {
        guard let now = context.now, let wide = TimeText.nanoseconds(Self.wide) else { return false }
        return TimeText.parse(report.from, now: 0).map { $0 < now - min(now, wide) } ?? false
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
