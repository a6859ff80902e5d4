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
