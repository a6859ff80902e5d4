import Logging

/// A log that tells the same notice, warning or error once a minute (``LogRepeats``). The next time it is told, the field
/// `repeated` has the number of those that were left out. Lower levels are told whole: they were asked for.
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
        guard let left = repeats.admit(Self.name(of: event)) else { return }
        var event = event
        if left > 0 { event.metadata = (event.metadata ?? [:]).merging(["repeated": "\(left)"]) { $1 } }
        base.log(event: event)
    }

    /// The sentence with its cause. Addresses and batches differ from event to event.
    private static func name(of event: LogEvent) -> String {
        let causes = ["status", "reason", "error"].compactMap { event.metadata?[$0].map { "\($0)" } }
        return (["\(event.message)", event.error.map { "\($0)" } ?? ""] + causes).joined(separator: "\n")
    }
}
