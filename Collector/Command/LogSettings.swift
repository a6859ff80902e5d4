import ArgumentParser
import Foundation
import Logging
import MartletReports
import MartletStorage
import Synchronization

/// The format of the collector's log on standard error.
struct LogSettings {
    enum Format: String, CaseIterable {
        case text, json
    }

    let level: Logger.Level
    let format: Format

    init(level: String, format: String) throws {
        self.level = try Self.value(level, of: "--log-level")
        self.format = try Self.value(format, of: "--log-format")
    }

    private static func value<Value: RawRepresentable & CaseIterable>(
        _ text: String, of flag: String
    ) throws -> Value where Value.RawValue == String {
        guard let value = Value(rawValue: text) else {
            throw ValidationError("\(flag) must be one of \(Value.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        return value
    }

    /// Sets this log for all loggers of the process.
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

/// A log with a JSON object on each line: `time`, `level`, `logger`, `message`, and the event's metadata in `fields`.
struct JSONLogHandler: LogHandler {
    private struct Line: Encodable {
        var time: String
        var level: String
        var logger: String
        var message: String
        var fields: [String: String]?
    }

    let label: String
    var logLevel = Logger.Level.info
    var metadata = Logger.Metadata()
    var metadataProvider: Logger.MetadataProvider?

    init(label: String) {
        self.label = label
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        var fields = metadata.merging(metadataProvider?.get() ?? [:]) { $1 }.merging(event.metadata ?? [:]) { $1 }
            .mapValues { "\($0)" }
        if let error = event.error { fields["error"] = "\(error)" }
        let line = Line(
            time: TimeText.milliseconds(SystemClock.now()), level: event.level.rawValue, logger: label,
            message: "\(event.message)", fields: fields.isEmpty ? nil : fields)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard var bytes = try? encoder.encode(line) else { return }
        bytes.append(UInt8(ascii: "\n"))
        // A single write keeps the lines of several threads apart.
        try? FileHandle.standardError.write(contentsOf: bytes)
    }
}

/// A log that writes the same notice, warning or error at most once a minute (``LogRepeats``). When it writes that event again,
/// the field `repeated` has the number of events left out. It writes every event of a lower level, because the operator asked
/// for those.
struct RepeatLimitedLogHandler: LogHandler {
    private var base: any LogHandler
    private let repeats: LogRepeats

    init(base: any LogHandler, repeats: LogRepeats) {
        (self.base, self.repeats) = (base, repeats)
    }

    var logLevel: Logger.Level {
        get { base.logLevel }
        set { base.logLevel = newValue }
    }
    var metadata: Logger.Metadata {
        get { base.metadata }
        set { base.metadata = newValue }
    }
    var metadataProvider: Logger.MetadataProvider? {
        get { base.metadataProvider }
        set { base.metadataProvider = newValue }
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { base[metadataKey: key] }
        set { base[metadataKey: key] = newValue }
    }

    func log(event: LogEvent) {
        guard event.level >= .notice else { return base.log(event: event) }
        guard let suppressed = repeats.admit(Self.name(of: event)) else { return }
        var event = event
        if suppressed > 0 { event.metadata = (event.metadata ?? [:]).merging(["repeated": "\(suppressed)"]) { $1 } }
        base.log(event: event)
    }

    /// Returns the message with its cause. Leaves out addresses and batches, because they differ between events of the same
    /// kind.
    private static func name(of event: LogEvent) -> String {
        let causes = ["status", "reason", "error"].compactMap { event.metadata?[$0].map { "\($0)" } }
        return (["\(event.message)", event.error.map { "\($0)" } ?? ""] + causes).joined(separator: "\n")
    }
}

/// The events that the log has written recently. The log writes the same event at most once a minute. So it does not fill up if
/// every batch of a sender is refused, or if a disk stays full. Safe to use from any task.
final class LogRepeats: Sendable {
    static let period = Duration.seconds(60)
    /// The maximum number of events that are remembered.
    private static let most = 1000

    private struct Event {
        var loggedAt: ContinuousClock.Instant
        var suppressed = 0
    }

    private let events = Mutex<[String: Event]>([:])

    /// Returns the number of events left out since the event was last written, or `nil` if this one must be left out too.
    ///
    /// - Parameter event: a text that is equal for events that a reader considers the same.
    func admit(_ event: String, at time: ContinuousClock.Instant = .now) -> Int? {
        events.withLock { events in
            if let known = events[event], time - known.loggedAt < Self.period {
                events[event]?.suppressed += 1
                return nil
            }
            if events.count >= Self.most { events = events.filter { time - $0.value.loggedAt < Self.period } }
            if events.count >= Self.most { events = [:] }
            return events.updateValue(Event(loggedAt: time), forKey: event)?.suppressed ?? 0
        }
    }
}
