import ArgumentParser
import Dispatch
import Foundation
import MartletReports
import MartletStorage
import UnixSignals

struct Top: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Shows the report full-screen, redrawn every 2 s; ? lists the keys.",
        discussion: TimeExpression.help)

    @OptionGroup var source: SourceOptions

    @OptionGroup var selection: SelectionOptions

    @OptionGroup var grouping: GroupingOptions

    @OptionGroup var color: ColorOption

    func run() async throws {
        guard TerminalScreen.isThere else {
            throw ValidationError("top needs a terminal; use report to write to a pipe or a file")
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

/// The event loop of `top`: keys, answers and signals change its state, and each change redraws the screen.
struct TopLoop {
    private enum Event: Sendable {
        case bytes([UInt8])
        case tick
        case signal(UnixSignal)
        case answer(TopAnswer, TopQuestion)
        case failure(any Error, TopQuestion)

        var isTick: Bool { if case .tick = self { true } else { false } }

        /// The query that this event completes; `nil` if it is not the result of a query.
        var question: TopQuestion? {
            switch self {
            case .answer(_, let question), .failure(_, let question): question
            case .bytes, .tick, .signal: nil
            }
        }
    }

    private static let interval = Duration.seconds(2)
    /// The maximum number of queued events. A user types fewer, and the next tick makes up for a lost one.
    private static let maxWaiting = 256

    let answers: TopAnswers
    let screen: TerminalScreen
    let isColored: Bool

    /// Returns when the user quits. Throws if a signal arrives, or if a query fails in a way that a retry would not change.
    func run(order: GroupOrder.Measure, _ signals: UnixSignalsSequence) async throws {
        let (events, inlet) = AsyncStream.makeStream(of: Event.self, bufferingPolicy: .bufferingNewest(Self.maxWaiting))
        let typed = TerminalScreen.bytes { inlet.yield(.bytes($0)) }
        defer { typed.cancel() }
        try await withThrowingDiscardingTaskGroup { group in
            defer { group.cancelAll() }
            group.addTask { for await signal in signals { inlet.yield(.signal(signal)) } }
            group.addTask {
                while (try? await Task.sleep(for: Self.interval)) != nil { inlet.yield(.tick) }
            }
            try await follow(events, from: TopState(order: order)) { question in
                group.addTask {
                    do {
                        inlet.yield(.answer(try await answers.answer(to: question), question))
                    } catch {
                        inlet.yield(.failure(error, question))
                    }
                }
            }
        }
    }

    /// - Parameter ask: starts a query, whose answer comes as an event.
    private func follow(
        _ events: AsyncStream<Event>, from start: TopState, ask: (TopQuestion) -> Void
    ) async throws {
        var state = start
        var asked: TopQuestion? = state.question
        ask(state.question)
        draw(state)
        for await event in events {
            let before = state.question
            try apply(event, to: &state)
            if state.isEnded { return }
            if let question = event.question, question == asked { asked = nil }
            if state.question != before || (event.isTick && asked == nil && !state.isPaused) {
                asked = state.question
                ask(state.question)
            }
            draw(state)
        }
    }

    private func apply(_ event: Event, to state: inout TopState) throws {
        switch event {
        case .bytes([]): throw ExitCode(128 + SIGHUP)
        case .bytes(let bytes): for key in TopKey.keys(in: bytes) { state.press(key) }
        case .signal(.sigwinch), .tick: return
        case .signal(let signal): throw ExitCode(128 + signal.rawValue)
        case .answer(let answer, let question): state.take(answer, to: question)
        case .failure(let error as ParameterError, _): throw error
        case .failure(let error as TooManyGroups, _): throw error
        case .failure(let error, let question) where question == state.question: state.fail("\(error)")
        case .failure: return
        }
    }

    private func draw(_ state: TopState) {
        let size = TerminalSize.current
        let device = OutputDevice(columns: size.columns, isColored: isColored)
        screen.draw(TopScreen.lines(of: state, on: device, height: size.rows, now: SystemClock.now()))
    }
}

/// The answers to the queries of `top`'s screen.
struct TopAnswers: Sendable {
    /// The maximum number of rows. The screen filters some of them.
    private static let rows = 1000
    /// The maximum number of a row's requests, which is more than a screen holds.
    private static let requests = 100

    let source: SourceOptions
    let selection: SelectionOptions
    let grouping: GroupingOptions

    /// The order that the flags select. Throws if a flag is invalid.
    var order: GroupOrder.Measure {
        get throws {
            var parameters = ReportParameters()
            selection.add(to: &parameters)
            grouping.add(to: &parameters)
            return try parameters.query(now: SystemClock.now()).order.measure
        }
    }

    func answer(to question: TopQuestion) async throws -> TopAnswer {
        switch question {
        case .report(let order): try await report(order)
        case .requests(let row, let onlyFailed): try await requests(of: row, onlyFailed: onlyFailed)
        }
    }

    private func report(_ order: GroupOrder.Measure) async throws -> TopAnswer {
        var parameters = ReportParameters()
        selection.add(to: &parameters)
        for dimension in grouping.by { parameters.add(.by, dimension) }
        parameters.add(.sort, order.rawValue)
        parameters.add(.top, String(Self.rows))
        parameters.add(.step, selection.trendStep)
        let report = try await source.report(parameters)
        var context = ReportContext()
        context.flags = parameters.flags.filter { $0.name != "top" } + source.flags
        context.findings = try await SelectedFindings(source: source, selection: selection).lines
        return .report(report, context)
    }

    private func requests(of row: [MartletStorage.Dimension: String?], onlyFailed: Bool) async throws -> TopAnswer {
        var parameters = RequestsParameters()
        selection.add(to: &parameters, without: Set(row.keys))
        parameters.add(row.map { (dimension: $0, value: $1 ?? "") })
        parameters.add(.failed, onlyFailed ? "true" : nil)
        parameters.add(.limit, String(Self.requests))
        return .requests(try await source.requests(parameters))
    }
}

/// The whole terminal as a screen: raw mode, and the alternate screen, so that the earlier contents come back.
struct TerminalScreen {
    /// The sequences of xterm (XTerm Control Sequences, DECSET 1049, 25 and 7): the alternate screen, no cursor, no automatic line
    /// breaks.
    private static let enter = "\u{1b}[?1049h\u{1b}[?25l\u{1b}[?7l"
    private static let leave = "\u{1b}[?7h\u{1b}[?25h\u{1b}[?1049l"

    private let saved: termios

    /// Whether standard input and output are a terminal.
    static var isThere: Bool { isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1 }

    init() throws {
        var mode = termios()
        guard tcgetattr(STDIN_FILENO, &mode) == 0 else { throw POSIXError(.ENOTTY) }
        saved = mode
        cfmakeraw(&mode)
        guard tcsetattr(STDIN_FILENO, TCSADRAIN, &mode) == 0 else { throw POSIXError(.EIO) }
        Self.write(Self.enter)
    }

    /// Restores the terminal.
    func restore() {
        Self.write(Self.leave)
        var mode = saved
        tcsetattr(STDIN_FILENO, TCSADRAIN, &mode)
    }

    /// - Parameter lines: as many lines as the terminal has.
    func draw(_ lines: [String]) {
        // A line is cleared before it is written: after a full line, the cursor is still on its last character.
        Self.write("\u{1b}[H" + lines.map { "\u{1b}[0m\u{1b}[K" + $0 }.joined(separator: "\r\n"))
    }

    /// Ignores errors. If the terminal is gone, the end of its input shows that.
    private static func write(_ text: String) {
        try? FileHandle.standardOutput.write(contentsOf: Data(text.utf8))
    }

    /// Passes on the bytes that the user typed, and none at the end of the input. Stops when the source is cancelled.
    static func bytes(_ take: @escaping @Sendable ([UInt8]) -> Void) -> any DispatchSourceRead {
        let source = DispatchSource.makeReadSource(fileDescriptor: STDIN_FILENO)
        source.setEventHandler {
            var buffer = [UInt8](repeating: 0, count: 1024)
            let count = read(STDIN_FILENO, &buffer, buffer.count)
            take(Array(buffer.prefix(max(0, count))))
        }
        source.resume()
        return source
    }
}
