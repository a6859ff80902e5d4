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
        if let latest = context.latestRequest { return answer.quiet(since: latest) }
        return answer.isOfSendersAlone && answer.isWithin(time) ? answer.uncounted(time, sender) : answer.nothing
    }

    /// How often agents send by default.
    package static let pace = "Agents report every 10 s"

    /// Returns the sentences for a collector without any data. They name the collector that was asked.
    ///
    /// - Parameter source: the flags that name it.
    static func nobody(_ source: [CommandFlag]) -> String {
        let isStore = source.contains { $0.name == "store" }
        let asked = source.first { $0.name == "collector" }?.value ?? CollectorAddress.usual
        let setting =
            isStore ? "the address in MARTLET_ENDPOINT" : "it with MARTLET_ENDPOINT=\(ShellWord.quoted(asked))"
        return "Nobody ever sent anything to this collector. A service sends to \(setting). \(pace).\n"
    }

    private var nobody: String { Self.nobody(source) + command("agents", source) }

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
        NextCommand.selecting(others(["since", "until"])).filter { !source.contains($0) } + version
    }

    /// The filter by the version whose requests a comparison of versions is about.
    private var version: [CommandFlag] {
        ComparisonBase.versions(in: compare).map { [CommandFlag(Dimension.version.rawValue, $0.after)] } ?? []
    }

    private var compare: String? { context.flag(ReportParameter.compare.rawValue) }

    private var ofDimensions: [CommandFlag] { filters.filter { Dimension(rawValue: $0.name) != nil } }

    private var senders: [CommandFlag] { filters.filter { Dimension(rawValue: $0.name)?.isOfSender ?? false } }

    /// Returns an hour up to the time at which the latest data came. It may have come some minutes after its requests.
    package static func window(of latest: UnixNanoseconds) -> (since: String, until: String) {
        let minute: UInt64 = 60_000_000_000
        let until = (latest / minute + 1) * minute
        return (TimeText.format(until - min(until, 60 * minute)), TimeText.format(until))
    }

    private func earlier(_ time: UnixNanoseconds, _ sender: String) -> String {
        let chosen = senders.isEmpty ? "" : "from \(CommandFlag.text(senders)) "
        let sentence =
            "Nothing came \(chosen)\(window). The latest came at \(moment(time)), from \(TerminalText.plain(sender))"
        guard let request = context.latestRequest, Self.isEarly(request, for: time) else {
            return sentence + ":\n" + commandAround(time)
        }
        return "\(sentence), and the latest request at \(moment(request)):\n" + commandAround(request)
    }

    /// Whether a sender's latest requests are older than the window that ends with the latest that came from it.
    package static func isEarly(_ request: UnixNanoseconds, for latest: UnixNanoseconds) -> Bool {
        TimeText.parse(window(of: latest).since, now: 0).map { request <= $0 } ?? false
    }

    /// The chosen senders send, but the requests that were asked about stopped some time ago.
    private func quiet(since time: UnixNanoseconds) -> String {
        let none = ofDimensions.isEmpty ? "No requests" : "No request matches \(CommandFlag.text(ofDimensions))"
        return "\(none) \(window). The latest one came at \(moment(time)):\n" + commandAround(time)
    }

    /// The command that was given, with the window that ends at a time. Counted requests may not be kept, so those are reported.
    private func commandAround(_ time: UnixNanoseconds) -> String {
        let (since, until) = Self.window(of: time)
        let window = [CommandFlag("since", since), CommandFlag("until", until)]
        return asked == "requests"
            ? command("report", window + ofDimensions + source) : command(asked, window + others(["since", "until"]))
    }

    /// The chosen senders send, but no requests of the window: spans inside a service, figures of the process, or requests of another
    /// time.
    private func uncounted(_ time: UnixNanoseconds, _ sender: String) -> String {
        """
        No requests came from \(CommandFlag.text(senders)) \(window), but \(TerminalText.plain(sender)) was heard of at \
        \(moment(time)):

        """ + command("agents", senders + source)
    }

    /// A time, and its age if the time of reading is known.
    private func moment(_ time: UnixNanoseconds) -> String {
        guard let now = context.now else { return TimeText.format(time) }
        let age = FigureText.age((max(now, time) - time) / 1_000_000_000)
        return "\(WindowText.moment(time, now: now)) UTC, \(age) ago"
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

/// The search for the latest requests before a time.
package enum LatestRequest {
    /// The time that is searched, in nanoseconds.
    private static let reach: UInt64 = 7 * 86_400_000_000_000
    private static let hour: UInt64 = 3_600_000_000_000
    /// A report's times have seconds.
    private static let second: UInt64 = 1_000_000_000

    /// Returns the end of the latest interval with requests; `nil` if there are none in the week before.
    ///
    /// - Parameters:
    ///   - filters: the values that select the requests.
    ///   - report: returns the report on parameters.
    package static func end(
        before time: UnixNanoseconds, _ filters: [EmptyAnswer.Names.Wanted],
        report: (ReportParameters) async throws -> Report
    ) async throws -> UnixNanoseconds? {
        func latest(from: UnixNanoseconds, to: UnixNanoseconds, step: String?) async throws -> UnixNanoseconds? {
            var parameters = ReportParameters()
            parameters.add(filters)
            parameters.add(.since, TimeText.format(from))
            parameters.add(.until, TimeText.format(to))
            parameters.add(.by, Dimension.kind.rawValue)
            parameters.add(.step, step)
            return try await report(parameters).lastSeen.flatMap { TimeText.parse($0, now: 0) }
        }
        guard time >= second else { return nil }
        guard let end = try await latest(from: time - min(time, reach), to: time, step: nil) else { return nil }
        // A window of a week is read by hours, and one in short slots as finely as points are kept.
        return try await latest(from: end - min(end, hour), to: end, step: "1m") ?? end
    }
}
