import MartletReports
import MartletStorage
import MartletTelemetry

/// Reads what the detector needs from a store. Without state. Calls of databases, message brokers and procedures are left out:
/// the detector judges HTTP.
struct FleetReading: Sendable {
    let storage: any Storage

    /// Rows of a minute at most, those with the most requests. A store allows 20,000 slots of rows.
    private static let rows = 3_000
    /// Observed calls that are read at most.
    private static let calls = 5_000
    /// Ends of processes that are read at most, the latest.
    private static let ends = 2_000

    /// Returns the names of the environments with requests in some minutes.
    func environments(in minutes: ClosedRange<Minute>, limit: Int) async throws -> [String] {
        let window = Self.window(minutes.lowerBound..<minutes.upperBound + 1)
        let named = try await storage.values(ValuesQuery(.environment, window: window, limit: limit)).values
        // Senders without an environment have no value.
        let without = RequestFilter([.environment: [""]])
        let isThereOneWithout = try await !storage.agents(seenSince: window.from, without, limit: 1).agents.isEmpty
        return Array(((isThereOneWithout ? [""] : []) + named.filter { !$0.isEmpty }).prefix(limit))
    }

    // MARK: Minutes

    /// Returns some minutes of an environment.
    ///
    /// - Parameters:
    ///   - environment: its name; empty for senders without one.
    ///   - again: the number of minutes before them that are read again, because points come late. Their rows replace what was
    ///     read before, and their processes are among those of the first minute.
    ///   - isSettled: see ``FleetMinute/isSettled``.
    func minutes(
        _ minutes: ClosedRange<Minute>, of environment: String, again: Int = 0, isSettled: Bool = true
    ) async throws -> [FleetMinute] {
        let first = minutes.lowerBound
        let all = max(0, first - again)..<minutes.upperBound + 1
        let rows = Dictionary(grouping: try await rows(of: all, environment)) { max($0.minute, first) }
        let waits = Dictionary(grouping: try await waits(in: minutes, environment)) { FindingTime.minute(of: $0.slot) }
        let processes = Dictionary(grouping: try await processes(in: all, environment)) { max($0.minute, first) }
        let ends = try await ends(in: minutes, environment)
        let callees = try await callees(in: all, environment)
        return minutes.map { minute in
            var fleet = FleetMinute(minute: minute)
            (fleet.isSettled, fleet.callees) = (isSettled, minute == first ? callees : [:])
            (fleet.rows, fleet.waits) = (rows[minute] ?? [], waits[minute] ?? [])
            (fleet.processes, fleet.ends) = (processes[minute] ?? [], ends[minute] ?? [])
            return fleet
        }
    }

    private static func query(
        _ minutes: Range<Minute>, _ environment: String, by: [Dimension]
    ) -> StatisticsQuery {
        var query = StatisticsQuery(
            window: window(minutes), filter: filter(environment), by: by, step: FindingTime.nanosecondsOfSlot)
        (query.hasFigures, query.slotScale) = (false, 2)
        return query
    }

    private static func window(_ minutes: Range<Minute>) -> TimeWindow {
        FindingTime.window(FindingTime.slot(of: minutes.lowerBound)..<FindingTime.slot(of: minutes.upperBound))
    }

    static func filter(_ environment: String) -> RequestFilter {
        RequestFilter([.environment: [environment], .system: [""]])
    }

    /// Reads rows in portions that the store allows.
    private func rows(of minutes: Range<Minute>, _ environment: String) async throws -> [RowMinute] {
        do {
            return try await rows(of: minutes, environment, limit: nil)
        } catch is TooManyGroups {
            guard minutes.count > 1 else { return try await mostUsedRows(of: minutes, environment) }
            let middle = minutes.lowerBound + minutes.count / 2
            return try await rows(of: minutes.lowerBound..<middle, environment)
                + rows(of: middle..<minutes.upperBound, environment)
        }
    }

    /// Returns the rows with the most requests; none if there are more than a store can rank.
    private func mostUsedRows(of minutes: Range<Minute>, _ environment: String) async throws -> [RowMinute] {
        do {
            return try await rows(of: minutes, environment, limit: Self.rows)
        } catch is TooManyGroups {
            return []
        }
    }

    private func rows(
        of minutes: Range<Minute>, _ environment: String, limit: Int?
    ) async throws -> [RowMinute] {
        var counts = Self.query(minutes, environment, by: FindingRow.dimensions)
        var statuses = Self.query(minutes, environment, by: FindingRow.dimensions + [.status])
        statuses.filter.select(.status, "4xx")
        (counts.limit, statuses.limit) = (limit, limit)
        counts.order = GroupOrder(.count)
        statuses.order = GroupOrder(.count)
        let answers = try await storage.statistics([counts, statuses])
        guard answers.count == 2 else { return [] }
        var rows = RowMinutes(minutes)
        rows.add(try answers[0].get()) { $0.add($1) }
        rows.add(try answers[1].get()) { $0.add(statusOf: $1) }
        return rows.rows
    }

    /// Returns the services that answered at called hosts; none if the store does not answer in time, because the counts say most.
    private func callees(in minutes: Range<Minute>, _ environment: String) async throws -> [String: Set<String>] {
        let filter = RequestFilter([.environment: [environment]])
        do {
            let calls = try await storage.calls(in: Self.window(minutes), filter, limit: Self.calls)
            return Dictionary(calls.map { ($0.calledHost, [$0.callee]) }) { $0.union($1) }
        } catch let error where !(error is CancellationError) {
            return [:]
        }
    }

    /// Processes are left out where a store has more than it answers for.
    private func processes(in minutes: Range<Minute>, _ environment: String) async throws -> [ReportedProcess] {
        do {
            let filter = RequestFilter([.environment: [environment]])
            return try await storage.histories(in: Self.window(minutes), filter).flatMap { sender in
                sender.minutes.map { ReportedProcess(ProcessIdentity(sender.resource), $0) }
            }
        } catch is TooManyGroups {
            return []
        }
    }

    /// Returns the ends without a shutdown that are known, by the minute that they are taken in. An end is reported once the service
    /// runs again, so earlier ones are read with the first minute.
    private func ends(in minutes: ClosedRange<Minute>, _ environment: String) async throws -> [Minute: [ProcessEnd]] {
        let window = Self.window(max(0, minutes.lowerBound - FindingConstants.keptMinutes)..<minutes.upperBound + 1)
        let filter = RequestFilter([.environment: [environment]])
        let found = try await storage.processEnds(in: window, filter, limit: Self.ends)
        let ends = found.reversed().filter { $0.end.cause != .clean }.map(ProcessEnd.init)
        return Dictionary(grouping: ends) { max(FindingTime.minute(of: $0.slot), minutes.lowerBound) }
    }

    /// Waits are left out where a store has more processes than it answers for.
    private func waits(in minutes: ClosedRange<Minute>, _ environment: String) async throws -> [ThreadWait] {
        let window = Self.window(minutes.lowerBound..<minutes.upperBound + 1)
        let query = ProcessQuery(
            window: window, filter: RequestFilter([.environment: [environment]]), step: FindingTime.nanosecondsOfSlot)
        do {
            let answer = try await storage.processes(query)
            return answer.services.flatMap { service in
                service.slots.enumerated().compactMap { index, slot in
                    guard let longest = slot?.samples[.poolDelay]?.max else { return nil }
                    let slot = FindingTime.slot(at: answer.grid.window(ofSlot: index).from)
                    return ThreadWait(service: service.service, slot: slot, seconds: Double(longest) / 1e9)
                }
            }
        } catch is TooManyGroups {
            return []
        }
    }
}

extension FindingRow {
    /// What requests are grouped by.
    fileprivate static let dimensions: [Dimension] = [.service, .kind, .method, .host, .endpoint]

    /// - Parameter values: the values of ``dimensions``, and possibly others.
    fileprivate init?(_ values: [String?]) {
        guard values.count >= Self.dimensions.count, let service = values[0], let kind = values[1].flatMap(Kind.init)
        else { return nil }
        self.init(service: service, kind: kind, method: values[2] ?? "", host: values[3], endpoint: values[4] ?? "")
    }
}

/// Counts of rows by the minute, put together from answers.
private struct RowMinutes {
    private struct Key: Hashable {
        var row: FindingRow
        var minute: Minute
    }

    private let minutes: Range<Minute>
    private var slots: [Key: [SlotCounts]] = [:]

    init(_ minutes: Range<Minute>) { self.minutes = minutes }

    var rows: [RowMinute] { slots.map { RowMinute(row: $0.row, minute: $0.minute, slots: $1) } }

    /// Adds the groups of an answer, unless the store has nothing finer than minutes.
    mutating func add(_ answer: StatisticsAnswer, _ add: (inout SlotCounts, RequestGroup) -> Void) {
        guard let found = answer.slots, found.grid.step <= 6 * FindingTime.nanosecondsOfSlot else { return }
        for groups in found.groups {
            guard let row = groups.first.flatMap({ FindingRow($0.values) }) else { continue }
            for (index, group) in groups.enumerated() where !group.isEmpty {
                let slot = FindingTime.slot(at: found.grid.window(ofSlot: index).from)
                guard minutes.contains(FindingTime.minute(of: slot)) else { continue }
                let key = Key(row: row, minute: FindingTime.minute(of: slot))
                let empty = Array(repeating: SlotCounts(), count: FindingTime.slotsOfMinute)
                add(&slots[key, default: empty][slot % FindingTime.slotsOfMinute], group)
            }
        }
    }
}

extension SlotCounts {
    fileprivate mutating func add(_ group: RequestGroup) {
        requests = UInt32(clamping: group.ended)
        failures = UInt32(clamping: group.failedAndEnded)
        hung = UInt32(clamping: group.outcomes[.hung])
        durations = group.coarseBuckets.enumerated().compactMap { bucket, count in
            count > 0 ? BucketCount(bucket: bucket, count: UInt32(clamping: count)) : nil
        }
    }

    fileprivate mutating func add(statusOf group: RequestGroup) {
        guard let status = group.values.last?.flatMap({ Int($0) }), group.ended > 0 else { return }
        statuses.append(StatusCount(status: status, count: UInt32(clamping: group.ended)))
    }
}

extension RequestGroup {
    /// Requests without hung ones.
    var ended: UInt64 { count - min(count, outcomes[.hung]) }

    /// Failed requests without hung ones, which are failures, too.
    var failedAndEnded: UInt64 { failedCount - min(failedCount, outcomes[.hung]) }

    /// The number of requests in each coarse bucket.
    var coarseBuckets: [UInt64] {
        [succeeded.duration, failed.duration].reduce(into: Array(repeating: 0, count: CoarseBuckets.count)) {
            $1.add(to: &$0)
        }
    }
}

extension ExponentialHistogram {
    /// Adds the values to coarse buckets. Those of a bucket that is wider lie in its middle.
    fileprivate func add(to buckets: inout [UInt64]) {
        var coarse = self
        coarse.lowerScale(to: 2)
        buckets[0] += coarse.zeroCount
        for part in coarse.parts {
            let width = 1 << Int(2 - Swift.min(part.scale, 2))
            for (index, count) in part.buckets.enumerated() where count > 0 {
                let middle = (Int(part.offset) + index) * width + width / 2
                buckets[CoarseBuckets.bucket(ofIndex: middle)] += count
            }
        }
    }
}

extension ReportedProcess {
    fileprivate init(_ process: ProcessIdentity, _ report: SenderMinute) {
        self.init(
            process: process, lastSeen: Double(report.end) / 1e9, memory: report.residentMemory.map { $0 / 1_048_576 },
            losses: report.losses)
    }
}

extension ProcessEnd {
    fileprivate init(_ stored: StoredEnd) {
        let end = stored.end
        let process = ProcessIdentity(
            service: stored.service, version: end.version ?? "", instance: end.instance)
        self.init(
            process: process, time: end.time, cause: end.causeText, endpoint: end.endpoint,
            mayBeStop: [.killed, .exit, .noTime].contains(end.cause))
    }
}

extension ProcessIdentity {
    fileprivate init(_ sender: TelemetryResource) {
        self.init(service: sender.service, version: sender.version ?? "", instance: sender.instance)
    }
}
