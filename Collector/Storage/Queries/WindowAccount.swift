import MartletTelemetry

/// The sum of agents' accounts over a window: the share of its requests that arrived, and how long capture was off.
package struct WindowAccount: Sendable, Equatable {
    package let window: TimeWindow
    /// Instances with an account of the window.
    package private(set) var instances = 0
    /// Instances whose capture was off for a time.
    package private(set) var unwatchedInstances = 0
    /// The longest time that one of them was off, in nanoseconds.
    package private(set) var longestUnwatched = 0.0
    /// Senders of which points of cumulative streams were not counted, because the collector remembers a limited number of
    /// streams.
    package var uncountedSenders = 0
    /// Senders of the window whose clocks are ahead of the store's, so that their requests are dated too late.
    package var clocksAhead = ClocksAhead()
    /// The accounts of the senders of each service with one.
    package private(set) var services: [String: WindowAccount] = [:]
    private var (arrived, captured) = (0.0, 0.0)
    private var total = Time(lived: 0, unwatched: 0)

    package struct ClocksAhead: Sendable, Equatable {
        /// Nanoseconds that a clock may be ahead and still fit.
        package static let tolerance: Int64 = 1_000_000_000

        package var senders: Int
        /// The largest difference, in nanoseconds: from a sender's latest arrival to the end of its latest interval. Its clock is ahead
        /// by as much at least.
        package var longest: UInt64

        package init(senders: Int = 0, longest: UInt64 = 0) {
            (self.senders, self.longest) = (senders, longest)
        }
    }

    /// The time that an instance lived in the window, and the part of it in which capture was off, in nanoseconds.
    package struct Time: Sendable, Equatable {
        package var lived: Double
        package var unwatched: Double

        package init(lived: Double, unwatched: Double) {
            self.lived = lived
            self.unwatched = unwatched
        }

        /// The time between readings in ascending order, as far as it lies in the window. The time off between two readings
        /// counts as spread evenly.
        package init(between readings: [Reading], in window: TimeWindow) {
            self.init(lived: 0, unwatched: 0)
            for (one, next) in zip(readings, readings.dropFirst()) {
                let share = next.share(since: one, in: window)
                lived += share * (next.time - one.time)
                unwatched += share * min(max(0, next.unwatched - one.unwatched), next.time - one.time)
            }
        }
    }

    /// The time of a ledger's reading, and the time without capture until then, in nanoseconds.
    package struct Reading: Sendable, Equatable {
        package var time: Double
        package var unwatched: Double

        package init(time: Double, unwatched: Double) {
            self.time = time
            self.unwatched = unwatched
        }

        /// Returns the part of the time since `one` that lies in the window, 0...1.
        fileprivate func share(since one: Reading, in window: TimeWindow) -> Double {
            guard time > one.time else { return 0 }
            return max(0, min(time, Double(window.to)) - max(one.time, Double(window.from))) / (time - one.time)
        }
    }

    package init(_ window: TimeWindow) {
        self.window = window
    }

    /// Adds an instance.
    ///
    /// - Parameters:
    ///   - arrived: its requests that arrived, which count up to `captured`.
    ///   - captured: the requests that it captured.
    ///   - time: its time in the window.
    package mutating func add(arrived: Double, captured: Double, time: Time) {
        instances += 1
        self.arrived += min(arrived, captured)
        self.captured += captured
        total.lived += time.lived
        total.unwatched += time.unwatched
        guard time.unwatched > 0 else { return }
        unwatchedInstances += 1
        longestUnwatched = max(longestUnwatched, time.unwatched)
    }

    /// Adds an instance of a service to its account and to that of all.
    package mutating func add(_ instance: InstanceReadings, of service: String) {
        add(instance)
        services[service, default: WindowAccount(window)].add(instance)
    }

    /// Captured requests that did not arrive. A double, which may come from a sender that lies, becomes a number that fits.
    package var missing: UInt64 { UInt64(min(max(0, (captured - arrived).rounded()), 0x1p62)) }

    /// The share of captured requests that arrived, 0...1, times the share of the instances' time in which capture was on.
    /// `nil` if no account covers the window.
    package var completeness: Double? {
        guard instances > 0 else { return nil }
        let watched = total.lived > 0 ? 1 - total.unwatched / total.lived : 1
        return (captured > 0 ? arrived / captured : 1) * watched
    }
}

/// The readings of an instance's ledger that tell its part in the account of a window. Times are nanoseconds.
package struct InstanceReadings {
    /// Requests in the batches of the readings in the window; of the first reading after it if the window has none.
    package var arrived: Double
    /// The most captured requests among the same readings.
    package var captured: Double
    /// The first reading after the window's start.
    package var first: WindowAccount.Reading
    /// The instance's age at the first reading; 0 if it did not tell.
    package var firstAge: Double
    /// The last reading in the window; the first one if the window has none.
    package var last: WindowAccount.Reading
    /// The last reading that is not in the window because it is earlier, with the requests captured until then.
    package var before: (captured: Double, reading: WindowAccount.Reading)?
    /// The first reading after the window.
    package var after: WindowAccount.Reading?

    package init(
        arrived: Double, captured: Double, first: WindowAccount.Reading, firstAge: Double, last: WindowAccount.Reading
    ) {
        self.arrived = arrived
        self.captured = captured
        self.first = first
        self.firstAge = firstAge
        self.last = last
    }

    /// All of them in ascending order, with the instance's start in place of a missing earlier one.
    fileprivate var readings: [WindowAccount.Reading] {
        var readings = [before?.reading ?? WindowAccount.Reading(time: first.time - firstAge, unwatched: 0), first]
        if last.time > first.time { readings.append(last) }
        if let after, after.time > last.time { readings.append(after) }
        return readings
    }
}

extension WindowAccount {
    /// Adds an instance. Each is added by itself: an instance that reports too much must not fill another's gap.
    package mutating func add(_ instance: InstanceReadings) {
        add(
            arrived: instance.arrived, captured: max(instance.captured - (instance.before?.captured ?? 0), 0),
            time: Time(between: instance.readings, in: window))
    }
}
