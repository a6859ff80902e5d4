import MartletStorage

/// An answer about a window, and the facts that show whether its figures can be trusted.
package protocol WindowReport {
    /// The window of the figures, RFC 3339, UTC.
    var from: String { get }
    var to: String { get }
    /// The share of captured requests that arrived, times the share of time in which capture was on, 0...1; `nil` if no agent
    /// reported for this time.
    var completeness: Double? { get }
    /// `nil` if capture was on all the time.
    var unwatched: UnwatchedTime? { get }
    /// The number of senders with points of cumulative counters that were not counted; `nil` if there are none.
    var uncountedSenders: Int? { get }
    /// The number of senders that several processes share; `nil` if there are none.
    var sharedSenders: Int? { get }
    /// `nil` if no sender's clock is ahead.
    var clocksAhead: FastClocks? { get }
    /// The number of points that are missing from the figures because the disk returned damaged data; `nil` if there are none.
    var damagedPoints: Int? { get }
    /// The number of requests that are known only from spans; `nil` if there are none.
    var fromSpans: UInt64? { get }
    /// The latest time at which a request is known to have occurred, RFC 3339, UTC; `nil` if there are none.
    var lastSeen: String? { get }
    /// Why the report has no rows; `nil` if it has some.
    var empty: NoResultsReason? { get }
}

extension Report: WindowReport {
    package var fromSpans: UInt64? { totals.measures.fromSpans }
    package var lastSeen: String? { totals.lastSeen }
}

extension WindowReport {
    /// Sentences about what is missing from the figures or has a wrong time, except for requests that did not arrive.
    package var gaps: [String] {
        var gaps: [String] = []
        if let unwatched { gaps.append(unwatched.sentence) }
        if let uncountedSenders {
            let senders = FigureText.counted(uncountedSenders, "sender")
            gaps.append(
                "cumulative counters of \(senders) were not counted (--max-cumulative-streams); some requests are missing"
            )
        }
        if let sharedSenders {
            let senders = FigureText.counted(sharedSenders, "sender")
            gaps.append(
                "\(senders) \(sharedSenders == 1 ? "is" : "are") shared by several processes, so some requests may be missing "
                    + "(give each process a service.instance.id)")
        }
        if let clocksAhead { gaps.append(clocksAhead.sentence) }
        if let damagedPoints {
            let points = FigureText.counted(damagedPoints, "point")
            gaps.append("\(points) damaged on disk and missing from these figures")
        }
        if let fromSpans {
            let requests = FigureText.counted(fromSpans, "request")
            gaps.append("\(requests) counted from spans only; requests that were not sampled are missing")
        }
        return gaps
    }
}

/// How long agents captured no requests, because capture was off.
package struct UnwatchedTime: Sendable, Equatable, Codable {
    /// The longest time for which capture was off in one instance, in seconds.
    package var seconds: Double
    /// The length of the report's window, in seconds.
    package var ofSeconds: Double
    package var instances: Int
    package var ofInstances: Int

    private enum CodingKeys: String, CodingKey {
        case seconds, instances
        case ofSeconds = "of_seconds"
        case ofInstances = "of_instances"
    }

    /// Returns `nil` if capture was on in all instances all the time.
    init?(_ account: WindowAccount) {
        guard account.unwatchedInstances > 0 else { return nil }
        seconds = account.longestUnwatched / 1e9
        ofSeconds = account.window.seconds
        instances = account.unwatchedInstances
        ofInstances = account.instances
    }

    var sentence: String {
        let (unit, name) = Self.unit(ofSeconds)
        let upTo = instances > 1 ? "up to " : ""
        return "capture was off for \(upTo)\(Self.figure(seconds / unit)) of \(Self.figure(ofSeconds / unit)) \(name)"
            + " on \(instances) of \(ofInstances) \(ofInstances == 1 ? "instance" : "instances")"
    }

    private static func unit(_ seconds: Double) -> (Double, String) {
        switch seconds {
        case ..<120: (1, "seconds")
        case ..<172_800: (60, "minutes")
        default: (3600, "hours")
        }
    }

    private static func figure(_ value: Double) -> String {
        if value > 0, value < 0.1 { return "less than 0.1" }
        let text = FigureText.fixed(value, value < 10 ? 1 : 0)
        return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }
}

/// Senders whose clocks are ahead of the collector's. Their requests carry times in the future, so the latest ones fall after
/// the window.
package struct FastClocks: Sendable, Equatable, Codable {
    package var senders: Int
    /// The largest difference seen, in seconds. The clock is ahead by at least this much.
    package var seconds: Double

    /// Returns `nil` if no clock is ahead.
    init?(_ account: WindowAccount) {
        guard account.clocksAhead.senders > 0 else { return nil }
        (senders, seconds) = (account.clocksAhead.senders, Double(account.clocksAhead.longest) / 1e9)
    }

    var sentence: String {
        let difference = "at least \(FigureText.seconds(seconds))"
        return senders == 1
            ? "the clock of 1 sender is \(difference) ahead: its requests are dated too late"
            : "the clocks of \(senders) senders are ahead, one by \(difference): their requests are dated too late"
    }
}
