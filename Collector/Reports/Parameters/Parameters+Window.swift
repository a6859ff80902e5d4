import MartletStorage
import MartletTelemetry

extension Parameters where Name: WindowParameterName {
    /// The days of the longest window: twice the 400 for which hours are kept by default. The cost of an answer grows with the
    /// data in its window.
    private static var longestDays: UInt64 { 800 }

    package func window(now: UnixNanoseconds) throws(ParameterError) -> TimeWindow {
        if self[.since] == nil, self[.until] != nil, let length = TimeText.nanoseconds(Name.defaultSince) {
            // The window keeps its length, whenever it is asked for.
            let to = try time(.until, default: "0s", now: now)
            return TimeWindow(from: to - min(to, length), to: to)
        }
        let from = try time(.since, default: Name.defaultSince, now: now)
        let to = try time(.until, default: "0s", now: now, after: from)
        guard from < to else { throw ParameterError("since must be before until") }
        guard to - from <= Self.longestDays * 86_400_000_000_000 else {
            throw ParameterError("since and until must be at most \(Self.longestDays) days apart")
        }
        let window = TimeWindow(from: from, to: to)
        return self[.until] == nil ? window.throughItsSecond : window
    }
}

extension TimeWindow {
    /// The window through the second that it ends in, and moved if it is as long as whole seconds. Reports name their window in whole
    /// seconds, so all that are made in a second are about the same requests, and so is a report on the times that one names.
    fileprivate var throughItsSecond: TimeWindow {
        let second: UInt64 = 1_000_000_000
        let rest = (second - to % second) % second
        return TimeWindow(from: length % second == 0 ? from + rest : from, to: to + rest)
    }
}
