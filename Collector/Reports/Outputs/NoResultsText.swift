import MartletStorage
import MartletTelemetry

/// Explains an answer without rows in a terminal, with the command that helps next.
package struct NoResultsText {
    /// How often agents send by default.
    package static let pace = "Agents report every 10 s"
    /// The window to try next. It is long, because there is nothing in the week before the given window.
    private static let wide = "30d"

    private let report: any WindowReport
    private let context: ReportContext
    /// The given command.
    private let asked: String

    /// Returns one or two lines: why there is nothing, and a command to copy.
    ///
    /// - Parameter command: the given command.
    package static func sentence(
        of report: any WindowReport, _ context: ReportContext, for command: String = "report"
    ) -> String {
        NoResultsText(report: report, context: context, asked: command).text
    }

    private var text: String {
        switch report.empty ?? .nothingFound {
        case .nobodyReported: Self.nobody(source) + command("agents", source)
        case .unknownName(let name): unknown(name)
        case .refused(let sender, let why):
            "\(none) \(window). The collector refused what \(Self.name(sender)) sent, the latest at \(moment(sender.lastSeen)): "
                + TerminalText.plain(why) + ".\n" + command("agents", senders + source)
        case .clockAhead(let clock, let request):
            "\(none) \(window). \(TerminalText.plain(clock.sentence)): its requests are dated too late, up to "
                + "\(plainTime(request)). Set that clock. Until then:\n" + commandAround(request)
        case .silent(let sender, let request): silent(sender, request)
        case .idle(let request): idle(since: request)
        case .uncounted(let sender):
            "No requests came from \(CommandFlag.text(senders)) \(window), but \(Self.name(sender)) was seen at "
                + moment(sender.lastSeen) + ":\n" + command("agents", senders + source)
        case .nothingFound: nothing
        }
    }

    /// Returns the sentences for a collector without any data. They name the collector that was queried.
    ///
    /// - Parameter source: the flags that name it.
    static func nobody(_ source: [CommandFlag]) -> String {
        let isStore = source.contains { $0.name == "store" }
        let asked = source.first { $0.name == "collector" }?.value ?? CollectorAddress.usual
        let setting =
            isStore
            ? "the address in MARTLET_ENDPOINT" : "this collector with MARTLET_ENDPOINT=\(ShellWord.quoted(asked))"
        return "No agents have reported yet. A service reports to \(setting). \(pace).\n"
    }

    static func name(_ sender: NoResultsReason.Sender) -> String {
        TerminalText.plain("\(sender.service) (\(sender.instance))")
    }

    private func unknown(_ name: UnknownName) -> String {
        guard name.nearest != nil else { return name.sentence + ".\n" }
        let flags = context.flags.map { flag in
            CommandFlag(flag.name, flag.value.map { name.corrected($0, of: flag.name) })
        }
        return name.sentence + "\n" + command(asked, flags)
    }

    private func silent(_ sender: NoResultsReason.Sender, _ request: UnixNanoseconds?) -> String {
        let chosen = senders.isEmpty ? "" : "from \(CommandFlag.text(senders)) "
        let latest = "The latest came at \(moment(sender.lastSeen)), from \(Self.name(sender))"
        let older = request.map { ", and the latest request at \(moment($0))" } ?? ""
        return "Nothing came \(chosen)\(window). \(latest)\(older):\n" + commandAround(request ?? sender.lastSeen)
    }

    private func idle(since time: UnixNanoseconds) -> String {
        "\(none) \(window). The latest one came at \(moment(time)):\n" + commandAround(time)
    }

    private var none: String {
        dimensions.isEmpty ? "No requests" : "No request matches \(CommandFlag.text(dimensions))"
    }

    private var nothing: String {
        guard filters.isEmpty else {
            let names = version.isEmpty ? [] : [ReportParameter.compare.rawValue]
            let rest = others(names).filter { !filters.contains($0) }
            let these = filters.count == 1 ? "the filter" : "these filters"
            return "No request matches \(CommandFlag.text(filters)) \(window). Without \(these):\n"
                + command(asked, rest)
        }
        guard context.flag("since") != Self.wide, !isOld else {
            return "No requests \(window). The senders that were seen:\n" + command("agents", source)
        }
        return "No requests \(window), nor in the week before. A longer time:\n"
            + command(asked, [CommandFlag("since", Self.wide)] + others(["since", "until"]))
    }

    /// Whether the window begins earlier than the one to try next.
    private var isOld: Bool {
        guard let now = context.now, let wide = TimeText.nanoseconds(Self.wide) else { return false }
        return TimeText.parse(report.from, now: 0).map { $0 < now - min(now, wide) } ?? false
    }
}

extension NoResultsText {
    private var source: [CommandFlag] { NextCommand.ofSource(context.flags) }

    private func others(_ names: [String]) -> [CommandFlag] { context.flags.filter { !names.contains($0.name) } }

    /// The flags that leave out requests.
    private var filters: [CommandFlag] {
        NextCommand.selecting(others(["since", "until"])).filter { !source.contains($0) } + version
    }

    /// The filter by the later version in a comparison of versions.
    private var version: [CommandFlag] {
        ComparisonBase.versions(in: context.flag(ReportParameter.compare.rawValue)).map {
            [CommandFlag(Dimension.version.rawValue, $0.after)]
        } ?? []
    }

    private var dimensions: [CommandFlag] { filters.filter { Dimension(rawValue: $0.name) != nil } }

    private var senders: [CommandFlag] { filters.filter { Dimension(rawValue: $0.name)?.isSenderAttribute ?? false } }

    private func command(_ subcommand: String, _ flags: [CommandFlag]) -> String {
        "  " + CommandText.text(subcommand, flags) + "\n"
    }

    /// Returns the given command for the hour up to a time. A command that lists requests becomes a report, because counted
    /// requests may not be kept.
    private func commandAround(_ time: UnixNanoseconds) -> String {
        let hour = NoResultsReason.hour(of: time)
        let window = [
            CommandFlag("since", TimeText.format(hour.from)), CommandFlag("until", TimeText.format(hour.to)),
        ]
        return asked == "requests"
            ? command("report", window + dimensions + source) : command(asked, window + others(["since", "until"]))
    }

    /// Returns a time, and how long ago it was if the time of reading is known.
    private func moment(_ time: UnixNanoseconds) -> String {
        guard let now = context.now else { return plainTime(time) }
        let age = FigureText.age((max(now, time) - time) / 1_000_000_000)
        return "\(plainTime(time)), \(age) ago"
    }

    /// Returns a time, with its date unless that is today's.
    private func plainTime(_ time: UnixNanoseconds) -> String {
        context.now.map { "\(WindowText.moment(time, now: $0)) UTC" } ?? TimeText.format(time)
    }

    private var window: String {
        let since = context.flag("since") ?? ReportParameter.defaultSince
        if context.flag("until") == nil, let length = TimeText.nanoseconds(since) {
            return "in the last \(FigureText.age(length / 1_000_000_000))"
        }
        return "from \(WindowText.sentence(of: report, now: context.now))"
    }
}
