import ArgumentParser
import Logging

/// The form of the collector's log on standard error.
struct LogSettings {
    enum Format: String, CaseIterable {
        case text, json
    }

    var level = Logger.Level.info
    var format = Format.text

    /// - Parameters: the values of the flags; `nil` for the default.
    init(level: String?, format: String?) throws {
        if let level { self.level = try Self.value(level, of: "--log-level") }
        if let format { self.format = try Self.value(format, of: "--log-format") }
    }

    private static func value<Value: RawRepresentable & CaseIterable>(
        _ text: String, of flag: String
    ) throws -> Value where Value.RawValue == String {
        guard let value = Value(rawValue: text) else {
            throw ValidationError("\(flag) must be one of \(Value.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        return value
    }

    /// Makes this the log of all loggers of the process.
    func bootstrap() {
        let repeats = LogRepeats()
        LoggingSystem.bootstrap { label in
            let base: any LogHandler =
                switch format {
                case .text: StreamLogHandler.standardError(label: label)
                case .json: JSONLogHandler(label: label)
                }
            var handler = RepeatLimitedLogHandler(base: base, repeats: repeats)
            handler.logLevel = level
            return handler
        }
    }
}
