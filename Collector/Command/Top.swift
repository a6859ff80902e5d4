import ArgumentParser
import MartletReports
import MartletSQLiteStorage
import MartletStorage
import UnixSignals

struct Top: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Shows the report on the whole terminal, drawn anew every 2 s; ? tells the keys.",
        discussion: TimeExpression.help)

    @OptionGroup var source: SourceOptions

    @OptionGroup var selection: SelectionOptions

    @OptionGroup var grouping: GroupingOptions

    @OptionGroup var color: ColorOption

    func run() async throws {
        guard TerminalScreen.isThere else {
            throw ValidationError("top draws on a terminal, and here is none; report writes to pipes and files")
        }
        try await reportingFailure {
            let answers = TopAnswers(source: source, selection: selection, grouping: grouping)
            let order = try answers.order
            // From here on no signal ends the process while the terminal is in raw mode.
            let signals = await UnixSignalsSequence(trapping: .sigterm, .sigint, .sighup, .sigwinch)
            let screen = try TerminalScreen()
            defer { screen.restore() }
            let loop = TopLoop(answers: answers, screen: screen, isColored: color.device.isColored)
            try await loop.run(order: order, signals)
        }
    }
}
