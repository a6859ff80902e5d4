import MartletTelemetry

/// The sum of agents' accounts over a window: the share of requests that arrived, and how long capture was off.
package struct WindowAccount: Sendable, Equatable {
    package let window: TimeWindow
    /// The number of instances with an account that covers the window.
    package private(set) var instances = 0
    /// The number of instances whose capture was off for some time.
    package private(set) var unwatchedInstances = 0
    /// The longest time for which the capture of one instance was off, in nanoseconds.
    package private(set) var longestUnwatched = 0.0
    /// Senders with uncounted points of cumulative streams. The collector remembers only a limited number of streams.
    package var uncountedSenders = 0
    /// Senders that are several processes with one identity: see ``StreamWriters/isShared``.
    package var sharedSenders = 0
    /// Senders in the window whose clocks are ahead of the store's clock. Their requests carry times in the future.
    package var clocksAhead = ClocksAhead()
    /// The account of each service that has one.
    package private(set) var services: [String: WindowAccount] = [:]
    private var (arrived, captured) = (0.0, 0.0)
    private var total = Time(lived: 0, unwatched: 0)

    package struct ClocksAhead: Sendable, Equatable {
        /// The largest lead of a clock that counts as in sync, in nanoseconds.
        package static let tolerance: Int64 = 1_000_000_000

        package var senders: Int
        /// The largest lead, in nanoseconds: from a sender's latest arrival to the end of its latest interval. The sender's clock
        /// is ahead by at least this much.
        package var longest: UInt64

        package init(senders: Int = 0, longest: UInt64 = 0) {
            (self.senders, self.longest) = (senders, longest)
        }
    }

    /// An instance's lifetime within the window, and how long its capture was off in that time, in nanoseconds.
    package struct Time: Sendable, Equatable {
        package var lived: Double
        package var unwatched: Double

        package init(lived: Double, unwatched: Double) {
            self.lived = lived
            self.unwatched = unwatched
        }

        /// The time between ascending readings, as far as it lies in the window. The time without capture is spread evenly between
        /// two readings.
        package init(between readings: [Reading], in window: TimeWindow) {
            self.init(lived: 0, unwatched: 0)
            for (one, next) in zip(readings, readings.dropFirst()) {
                let share = next.share(since: one, in: window)
                lived += share * (next.time - one.time)
                unwatched += share * min(max(0, next.unwatched - one.unwatched), next.time - one.time)
            }
        }
    }

    /// The time of a ledger's reading, and the total time without capture up to it, in nanoseconds.
    package struct Reading: Sendable, Equatable {
        package var time: Double
        package var unwatched: Double

        package init(time: Double, unwatched: Double) {
            self.time = time
            self.unwatched = unwatched
        }

        /// Returns the share, 0...1, of the time since `one` that lies in the window.
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
    ///   - arrived: the number of its requests that arrived. At most `captured` of them count.
    ///   - captured: the requests that it captured.
    ///   - time: its time in the window.
    package mutating func add(arrived: Double, captured: Double, time: Time) {
        add(instances: 1, arrived: min(arrived, captured), captured: captured, time: time)
        addUnwatched(time.unwatched)
    }

    private mutating func add(instances: Int, arrived: Double, captured: Double, time: Time) {
        self.instances += instances
        self.arrived += arrived
        self.captured += captured
        total.lived += time.lived
        total.unwatched += time.unwatched
    }

    /// Notes the whole time of one instance without capture.
    private mutating func addUnwatched(_ time: Double) {
        guard time > 0 else { return }
        unwatchedInstances += 1
        longestUnwatched = max(longestUnwatched, time)
    }

    /// Adds an instance to the account of its service and to the overall account.
    package mutating func add(_ instance: InstanceReadings, of service: String) {
        add(instance)
        services[service, default: WindowAccount(window)].add(instance)
    }

    /// Adds an hour of all instances of a version, whose own readings are no longer kept.
    ///
    /// - Parameter instances: those that no earlier hour in the window has.
    package mutating func add(instances: Int, arrived: Double, captured: Double, time: Time, of service: String) {
        add(instances: instances, arrived: arrived, captured: captured, time: time)
        services[service, default: WindowAccount(window)]
            .add(instances: instances, arrived: arrived, captured: captured, time: time)
    }

    /// Notes the whole time without capture of one instance of such hours.
    package mutating func addUnwatched(_ time: Double, of service: String) {
        addUnwatched(time)
        services[service, default: WindowAccount(window)].addUnwatched(time)
    }

    /// Captured requests that did not arrive. The value is clamped, because a sender may report false figures.
    package var missing: UInt64 { UInt64(min(max(0, (captured - arrived).rounded()), 0x1p62)) }

    /// The share of captured requests that arrived, 0...1, multiplied by the share of the instances' time with capture on. `nil` if
    /// no account covers the window.
    package var completeness: Double? {
        guard instances > 0 else { return nil }
        let watched = total.lived > 0 ? 1 - total.unwatched / total.lived : 1
        return (captured > 0 ? arrived / captured : 1) * watched
    }
}

/// The accounts of the windows of some queries, each read once. A page's queries are mostly about the same window and senders, and
/// an account reads the ledgers of all these senders.
package struct WindowAccounts: Sendable {
    private var known: [(senders: RequestFilter, account: WindowAccount)] = []

    package init() {}

    /// Returns the account of a window and the senders that a filter selects; `nil` if it was not noted yet.
    package func known(in window: TimeWindow, _ filter: RequestFilter) -> WindowAccount? {
        let senders = filter.ofSenders
        return known.first { $0.account.window == window && $0.senders == senders }?.account
    }

    /// Keeps an account of the senders that a filter selects.
    package mutating func note(_ account: WindowAccount, of filter: RequestFilter) {
        known.append((filter.ofSenders, account))
    }
}

/// The readings of an instance's ledger that decide its part in the account of a window. Times are nanoseconds.
package struct InstanceReadings {
    /// The number of requests in the batches of the window's readings, or of the first reading after the window if it has none.
    package var arrived: Double
    /// The largest number of captured requests among the same readings.
    package var captured: Double
    /// The first reading after the window's start.
    package var first: WindowAccount.Reading
    /// The instance's age at the first reading; 0 if unknown.
    package var firstAge: Double
    /// The last reading in the window; the first reading if the window has none.
    package var last: WindowAccount.Reading
    /// The last reading before the window, with the requests captured until then.
    package var before: (captured: Double, reading: WindowAccount.Reading)?
    /// The first reading after the window.
    package var after: WindowAccount.Reading?
    /// Whether the instance is counted in the hours of its version as well, and its time without capture there.
    package var isCounted = false
    package var countedUnwatched = 0.0

    package init(
        arrived: Double, captured: Double, first: WindowAccount.Reading, firstAge: Double, last: WindowAccount.Reading
    ) {
        self.arrived = arrived
        self.captured = captured
        self.first = first
        self.firstAge = firstAge
        self.last = last
    }

    /// All readings in ascending order. If there is no reading before the window, the instance's start replaces it.
    fileprivate var readings: [WindowAccount.Reading] {
        var readings = [before?.reading ?? WindowAccount.Reading(time: first.time - firstAge, unwatched: 0), first]
        if last.time > first.time { readings.append(last) }
        if let after, after.time > last.time { readings.append(after) }
        return readings
    }
}

extension WindowAccount {
    /// Adds an instance. Each is added separately, so that an instance that reports too much does not hide the gap of another.
    package mutating func add(_ instance: InstanceReadings) {
        let captured = max(instance.captured - (instance.before?.captured ?? 0), 0)
        let time = Time(between: instance.readings, in: window)
        add(
            instances: instance.isCounted ? 0 : 1, arrived: min(instance.arrived, captured), captured: captured,
            time: time)
        addUnwatched(time.unwatched + instance.countedUnwatched)
    }
}
