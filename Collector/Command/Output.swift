import ArgumentParser
import Foundation
import MartletReports
import MartletStorage
import MartletTelemetry

/// Writes at once. With `print`, a pipe's reader would wait for a full buffer.
enum Output {
    /// Writes an answer. If it cannot be written whole, prints the reason in a sentence and throws an exit code. It is no error
    /// if the reader has left.
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

    /// Writes a line for a user who watches, and ignores errors.
    static func line(_ line: String) {
        try? FileHandle.standardOutput.write(contentsOf: Data((line + "\n").utf8))
    }

    static func error(_ message: String) {
        try? FileHandle.standardError.write(contentsOf: Data("martlet-collector: \(message)\n".utf8))
    }
}

/// The form and the colours of a command's answer.
struct OutputOptions<Format: AnswerFormat>: ParsableArguments {
    @Option(help: "Format of the output; docs/reports.md describes each.")
    var format = Format.table

    @OptionGroup var color: ColorOption

    var device: OutputDevice { color.device }
}

/// The forms of a command's answer. One of them is a table for a user.
protocol AnswerFormat: ExpressibleByArgument, CaseIterable, Sendable {
    static var table: Self { get }
}

/// The form of an answer: a table for a user, or a value for a program.
enum OutputFormat: String, AnswerFormat {
    case table
    case json
}

/// The form of a list: of kept requests, or of the map's edges.
enum ListFormat: String, AnswerFormat {
    case table
    case json
    case csv
}

/// The form of a report.
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

    /// Lines are never longer, whatever `COLUMNS` says.
    private static let maxColumns = 1000

    /// Returns the width from `COLUMNS` or from the terminal.
    private static func columns(_ variables: [String: String]) -> Int {
        if let text = variables["COLUMNS"], let columns = Int(text), columns > 0 { return min(columns, maxColumns) }
        return TerminalSize.current.columns
    }
}

extension OutputDevice {
    /// The current time; `nil` for a file, which gets the same text whenever it is written.
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

    /// The current size. A terminal that does not know its size gets the size of the first terminals.
    static var current: TerminalSize {
        var size = winsize()
        let isKnown = ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0
        return TerminalSize(
            columns: isKnown && size.ws_col > 0 ? Int(size.ws_col) : 80,
            rows: isKnown && size.ws_row > 0 ? Int(size.ws_row) : 24)
    }
}
