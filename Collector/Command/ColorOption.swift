import ArgumentParser
import Foundation
import MartletReports

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

    /// See https://no-color.org: a flag goes before the variable, and an empty variable is none.
    private func isColored(isTerminal: Bool, _ variables: [String: String]) -> Bool {
        switch color {
        case .always: true
        case .never: false
        case .auto: isTerminal && (variables["NO_COLOR"] ?? "").isEmpty && variables["TERM"] != "dumb"
        }
    }

    /// Lines are never longer, whatever `COLUMNS` says.
    private static let maxColumns = 1000

    /// Returns the width that `COLUMNS` or the terminal tells.
    private static func columns(_ variables: [String: String]) -> Int {
        if let text = variables["COLUMNS"], let columns = Int(text), columns > 0 { return min(columns, maxColumns) }
        return TerminalSize.current.columns
    }
}
