import ArgumentParser
import Foundation
import MartletReports
import MartletStorage
import MartletTelemetry

/// Writes to standard output immediately. With `print`, a pipe's reader would wait until the buffer is full.
enum Output {
    /// Writes an answer. If the answer cannot be written completely, prints the reason and throws an exit code. A reader that
    /// has closed the pipe is not an error.
    static func answer(_ text: String) throws {
        do {
            try FileHandle.standardOutput.write(contentsOf: Data(text.utf8))
        } catch {
            let cause = (error as NSError).userInfo[NSUnderlyingErrorKey] as? NSError
            let code = cause.flatMap { Int32(exactly: $0.code) }
            guard code != EPIPE else { return }
            let reason = code.map { String(cString: strerror($0)) } ?? error.localizedDescription
            self.error("cannot write to standard output: \(reason)")
            throw ExitCode.unavailable
        }
    }

    /// Writes a line for a user at the terminal, and ignores errors.
    static func line(_ line: String) {
        try? FileHandle.standardOutput.write(contentsOf: Data((line + "\n").utf8))
    }

    static func error(_ message: String) {
        try? FileHandle.standardError.write(contentsOf: Data("martlet-collector: \(message)\n".utf8))
    }
}

/// The format and the colours of a command's answer.
struct OutputOptions<Format: AnswerFormat>: ParsableArguments {
    @Option(help: "Format of the output; docs/reports.md describes each.")
    var format = Format.table

    @OptionGroup var color: ColorOption

    var device: OutputDevice { color.device }
}

/// The formats of a command's answer. One of them is a table for a user.
protocol AnswerFormat: ExpressibleByArgument, CaseIterable, Sendable {
    static var table: Self { get }
}

/// The format of an answer: a table for a user, or a value for a program.
enum OutputFormat: String, AnswerFormat {
    case table
    case json
}

/// The format of a list: of kept requests, or of the map's edges.
enum ListFormat: String, AnswerFormat {
    case table
    case json
    case csv
}

/// The format of a report.
enum ReportFormat: String, AnswerFormat {
    case table
    case json
    case csv
    case markdown
}

/// The flag `--color`, and the terminal behind standard output.
struct ColorOption: ParsableArguments {
    enum Choice: String, ExpressibleByArgument, CaseIterable {
        case auto
        case always
        case never
    }

    @Option(help: "auto, always or never; auto colours a terminal's output unless NO_COLOR is set.")
    var color = Choice.auto

    var device: OutputDevice {
        let variables = ProcessInfo.processInfo.environment
        let columns = isatty(STDOUT_FILENO) == 1 ? Self.columns(variables) : nil
        return OutputDevice(columns: columns, isColored: isColored(isTerminal: columns != nil, variables))
    }

    /// See https://no-color.org. A flag overrides the variable, and an empty variable counts as unset.
    private func isColored(isTerminal: Bool, _ variables: [String: String]) -> Bool {
        switch color {
        case .always: true
        case .never: false
        case .auto: isTerminal && (variables["NO_COLOR"] ?? "").isEmpty && variables["TERM"] != "dumb"
        }
    }

    /// The maximum width of a line, even if `COLUMNS` is larger.
    private static let maxColumns = 1000

    /// Returns the width from `COLUMNS` or from the terminal.
    private static func columns(_ variables: [String: String]) -> Int {
        if let text = variables["COLUMNS"], let columns = Int(text), columns > 0 { return min(columns, maxColumns) }
        return TerminalSize.current.columns
    }
}

extension OutputDevice {
    /// The current time for a terminal; `nil` for a file, whose text must not depend on when it is written.
    var now: UnixNanoseconds? { isTerminal ? SystemClock.now() : nil }
}

extension ReportContext {
    init(_ flags: [CommandFlag], on device: OutputDevice) {
        self.init()
        (self.flags, now) = (flags, device.now)
    }
}

/// The size of the terminal behind standard output, in characters.
struct TerminalSize {
    var columns: Int
    var rows: Int

    /// The current size. If the terminal does not report it, 80 by 24.
    static var current: TerminalSize {
        var size = winsize()
        let isKnown = ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0
        return TerminalSize(
            columns: isKnown && size.ws_col > 0 ? Int(size.ws_col) : 80,
            rows: isKnown && size.ws_row > 0 ? Int(size.ws_row) : 24)
    }
}
