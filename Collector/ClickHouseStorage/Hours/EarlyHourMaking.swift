import MartletStorage

/// Makes ``EarlyHours``. Several collectors may do it at the same time: of two roll-ups of an hour the one of more points stays.
actor EarlyHourMaking {
    /// The time after which a pass begins no further statement: other work of maintenance waits.
    private static let pass = Duration.seconds(5)

    private struct Waiting {
        let revision: UInt64
        let due: ContinuousClock.Instant
    }

    private struct Work {
        let hour: UInt32
        let revision: UInt64
        /// Conditions, each of a part of the points: see ``HourParts``.
        var parts: [String]
    }

    private let client: ClickHouseClient
    private let settling: Duration
    private let maxPoints: UInt64
    private var waiting: [UInt32: Waiting] = [:]
    private var work: Work?

    init(_ client: ClickHouseClient, _ limits: ClickHouseLimits) {
        self.client = client
        settling = .seconds(limits.hourSettling)
        maxPoints = limits.maxHourPoints
    }

    /// Makes some of the hours that do not hold.
    func makeSome(of hours: Range<Int64>) async throws {
        let end = ContinuousClock.now + Self.pass
        let changed = try await EarlyHours.revisions(of: hours, client).filter { !$0.holds }
        wait(for: changed)
        // An hour in work may have points of a later revision now, or another collector has made it.
        if let work, !changed.contains(where: { $0.hour == work.hour && $0.ofPoints == work.revision }) {
            self.work = nil
        }
        while ContinuousClock.now < end {
            try Task.checkCancellation()
            guard let next = try await nextWork() else { return }
            work = try await advance(next)
        }
    }

    /// Takes note of the hours that changed. Each collector waits a random time longer than it has to, so that mostly one of them
    /// makes an hour.
    private func wait(for changed: [EarlyHours.Revisions]) {
        var next: [UInt32: Waiting] = [:]
        for one in changed {
            if let known = waiting[one.hour], known.revision == one.ofPoints {
                next[one.hour] = known
            } else {
                let due = ContinuousClock.now + settling + settling / 2 * Double.random(in: 0..<1)
                next[one.hour] = Waiting(revision: one.ofPoints, due: due)
            }
        }
        waiting = next
    }

    /// Returns the hour in work, or the latest one that is due.
    private func nextWork() async throws -> Work? {
        if let work { return work }
        let now = ContinuousClock.now
        guard let (hour, known) = waiting.filter({ $0.value.due <= now }).max(by: { $0.key < $1.key }) else {
            return nil
        }
        waiting[hour] = nil
        let parts = try await HourParts.conditions(of: Int64(hour), maxPoints: maxPoints, client)
        return Work(hour: hour, revision: known.revision, parts: parts)
    }

    /// Makes the next part of an hour, or notes that the hour is made; returns the rest of the work.
    private func advance(_ work: Work) async throws -> Work? {
        var work = work
        guard let part = work.parts.popLast() else {
            try await client.run("INSERT INTO made_hour (hour, revision) VALUES (\(work.hour), \(work.revision))")
            return nil
        }
        let columns = Schema.point.columnList
        let rows = "SELECT \(columns) FROM point FINAL WHERE spans = 0 AND hour = \(work.hour) AND \(part)"
        try await client.run(HourStatement.sql(of: Int64(work.hour), rows: rows))
        return work
    }
}
