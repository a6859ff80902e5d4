import Foundation
import Logging
import MartletReports
import MartletSQLiteStorage

/// A log with a JSON object on each line: `time`, `level`, `logger`, `message`, and what belongs to the event in `fields`.
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
            time: TimeText.milliseconds(SQLiteStorage.systemClock()), level: event.level.rawValue, logger: label,
            message: "\(event.message)", fields: fields.isEmpty ? nil : fields)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard var bytes = try? encoder.encode(line) else { return }
        bytes.append(UInt8(ascii: "\n"))
        // One write keeps the lines of several threads apart.
        try? FileHandle.standardError.write(contentsOf: bytes)
    }
}
