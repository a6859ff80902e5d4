import MartletStorage
import MartletTelemetry

/// The screen of `top` as lines.
package struct TopScreen {
    private let state: TopState
    private let device: OutputDevice
    private let height: Int
    private let now: UnixNanoseconds

    /// Returns at most `height` lines. The last one lists the keys.
    package static func lines(
        of state: TopState, on device: OutputDevice, height: Int, now: UnixNanoseconds
    ) -> [String] {
        let screen = TopScreen(state: state, device: device, height: height, now: now)
        let footer = screen.footer
        let room = max(0, height - footer.count)
        let body = screen.body(height: room).prefix(room)
        return Array(body) + Array(repeating: "", count: room - body.count) + footer.suffix(height)
    }

    private func body(height: Int) -> [String] {
        if state.showsHelp { return Self.help.flatMap { device.wrapped($0) } }
        return state.view == .report ? report(height: height) : requests
    }

    // MARK: The report

    private func report(height: Int) -> [String] {
        guard let report = state.report else { return ["Loading …"] }
        guard !report.rows.isEmpty else { return wrapped(ReportTable.text(of: report, context, on: inner)) }
        // The heading is about all rows, including those that the filter hides.
        let heading = Array(wrapped(ReportTable(report, context, inner).heading).prefix(height / 2)) + [""]
        guard !state.rows.isEmpty else {
            return heading + ["No rows match. f shows those without failures, / all names."]
        }
        return heading + table(of: report, height: max(0, height - heading.count))
    }

    /// Returns the rows around the selected one, as many as fit.
    private func table(of report: Report, height: Int) -> [String] {
        var shown = report
        shown.rows = state.rows
        // The totals count all rows.
        if shown.rows.count < report.rows.count { shown.totalsByKind = [:] }
        let (text, rows) = ReportTable(shown, context, inner).screen
        guard let selected = rows[state.selected] else { return text }
        // A terminal that is too narrow for a row shows it in several lines.
        let wrapped = text.map { inner.wrapped($0) }
        let lines = wrapped.enumerated().flatMap { index, parts in
            parts.map { index == selected ? device.selected("> " + $0) : "  " + $0 }
        }
        let end = wrapped.prefix(selected + 1).reduce(0) { $0 + $1.count }
        let first = max(0, min(end - height, lines.count - height))
        return Array(lines[first...].prefix(height))
    }

    private var context: ReportContext {
        var context = state.context
        (context.now, context.sortedBy) = (now, state.order)
        return context
    }

    /// The room next to the mark of the selected row.
    private var inner: OutputDevice {
        OutputDevice(columns: device.columns.map { max(1, $0 - 2) }, isColored: device.isColored)
    }

    // MARK: Requests

    private var requests: [String] {
        let row = state.opened
        let names = (state.report?.by ?? []).compactMap { row?.text(of: $0) }.filter { !$0.isEmpty }
        let title = device.paint(TerminalText.plain("Requests of " + names.joined(separator: " ")), .bold)
        guard let report = state.requests else { return wrapped(title) + ["Loading …"] }
        return wrapped(
            title + "\n" + RequestsTable.text(of: report, from: source, on: device, first: state.firstRequest))
    }

    private var source: [CommandFlag] { NextCommand.ofSource(state.context.flags) }

    // MARK: Help

    private static let help = [
        "s          sorts by the next figure: impact, count, failures, failure-rate, p50, p95, p99, max",
        "f          shows only rows with failures, or all again",
        "/          filters by a text of the endpoint; Enter keeps it, / and Escape show all again",
        "space      pauses and resumes",
        "↑ ↓, k j   select a row; among requests, show those before or after",
        "Enter      shows the kept requests of the selected row; q returns",
        "q, Ctrl-C  ends",
    ]

    // MARK: The last lines

    private var footer: [String] {
        let trouble = state.trouble.map { wrapped(device.paint(TerminalText.plain($0 + "; retrying"), .yellow)) }
        return (trouble ?? []) + [modes, keys].filter { !$0.isEmpty }
    }

    private var modes: String {
        if state.isTyping { return "/" + TerminalText.plain(state.filter) + "▏" }
        var modes = ["sorted by \(state.order.rawValue)"]
        if state.onlyFailed { modes.append("failed only") }
        if !state.filter.isEmpty { modes.append("endpoint has \(TerminalText.plain(state.filter))") }
        return device.paint(modes.joined(separator: ", "), .dim)
            + (state.isPaused ? ", " + device.paint("paused: space resumes", .yellow) : "")
    }

    private var keys: String {
        let keys =
            switch state.view {
            case _ where state.showsHelp: "any key returns"
            case .report where state.isTyping: "Enter keep  Escape show all"
            case .report:
                fitted(["s sort", "f failed only", "/ filter", "space pause", "Enter requests", "? help", "q quit"])
            case .requests: fitted(["↑ ↓ scroll", "f failed only", "space pause", "? help", "q back"])
            }
        return device.paint(keys, .dim)
    }

    /// Returns as many keys as fit. The last two, which lead to the help and out of the view, always stay.
    private func fitted(_ keys: [String]) -> String {
        var keys = keys
        while keys.count > 2, TextWidth.of(keys.joined(separator: "  ")) > device.columns ?? .max {
            keys.remove(at: keys.count - 3)
        }
        return keys.joined(separator: "  ")
    }

    private func wrapped(_ text: String) -> [String] {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        return (lines.last == "" ? lines.dropLast() : lines[...]).flatMap { device.wrapped($0) }
    }
}
