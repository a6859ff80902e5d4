import MartletStorage

/// Makes hours of points. Several collectors may do it at the same time: of two roll-ups of an hour the one of more points stays.
actor HourMaking {
    /// The time after which a pass begins no further statement: other work of maintenance waits.
    private static let pass = Duration.seconds(5)

    private struct Waiting {
        /// The revision of the points. All of them are there when the hour is due.
        let revision: UInt64
        let due: ContinuousClock.Instant
    }

    private struct Work {
        let hour: UInt32
        let revision: UInt64
        var statements: [String]
    }

    private let kind: HourKind
    private let client: ClickHouseClient
    private let settling: Duration
    private let maxPoints: UInt64
    private var waiting: [UInt32: Waiting] = [:]
    private var work: Work?

    init(_ kind: HourKind, _ client: ClickHouseClient, _ limits: ClickHouseLimits) {
        self.kind = kind
        self.client = client
        settling = .seconds(limits.hourSettling)
        maxPoints = limits.maxHourPoints
    }

    /// Makes some of the hours that do not hold.
    func makeSome(of hours: Range<Int64>) async throws {
        let end = ContinuousClock.now + Self.pass
        let changed = try await HourRevisions.read(of: hours, kind, client).filter { !$0.holds }
        // An hour in work may have points of a later revision now, or another collector has made it.
        if let work, !changed.contains(where: { $0.hour == work.hour && isOpen($0, from: work.revision) }) {
            self.work = nil
        }
        wait(for: changed.filter { $0.hour != work?.hour })
        while ContinuousClock.now < end {
            try Task.checkCancellation()
            if work == nil { work = try await nextWork() }
            guard let next = work else { return }
            // An hour of which a statement fails waits anew, so that it keeps nobody from others and from deleting.
            work = nil
            work = try await advance(next)
        }
    }

    /// Whether an hour is still to be made with a revision that its points had.
    private func isOpen(_ revisions: HourRevisions, from revision: UInt64) -> Bool {
        kind.needsQuiet ? revisions.ofPoints == revision && !revisions.holds : revisions.made < revision
    }

    /// Takes note of the hours that changed. Each collector waits a random time longer than it has to, so that mostly one of them
    /// makes an hour.
    private func wait(for changed: [HourRevisions]) {
        var next: [UInt32: Waiting] = [:]
        for one in changed {
            if let known = waiting[one.hour], isOpen(one, from: known.revision) {
                next[one.hour] = known
            } else {
                let due = ContinuousClock.now + settling + settling / 2 * Double.random(in: 0..<1)
                next[one.hour] = Waiting(revision: one.ofPoints, due: due)
            }
        }
        waiting = next
    }

    /// Returns the work on an hour that is due, and that no other collector has made meanwhile.
    private func nextWork() async throws -> Work? {
        while true {
            let now = ContinuousClock.now
            guard let hour = kind.first(of: waiting.filter { $0.value.due <= now }.keys),
                let known = waiting.removeValue(forKey: hour)
            else { return nil }
            guard let found = try await HourRevisions.read(Int64(hour), kind, client),
                isOpen(found, from: known.revision)
            else { continue }
            let statements = try await kind.statements(for: Int64(hour), maxPoints: maxPoints, client)
            return Work(hour: hour, revision: known.revision, statements: statements.reversed())
        }
    }

    /// Runs the next statement of an hour, or notes that the hour is made; returns the rest of the work.
    private func advance(_ work: Work) async throws -> Work? {
        var work = work
        guard let statement = work.statements.popLast() else {
            try await client.run(
                "INSERT INTO \(kind.table.name) (hour, revision) VALUES (\(work.hour), \(work.revision))")
            return nil
        }
        try await client.run(statement)
        return work
    }
}
