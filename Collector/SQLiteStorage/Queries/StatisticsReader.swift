import GRDB
import MartletStorage
import MartletTelemetry

/// Answers the queries of one transaction. Queries about all groups are answered from a first pass over the points. Groups selected
/// from these answers are read in a second pass.
struct StatisticsReader {
    private let queries: [StatisticsQuery]
    private let expired: ExpiredTimes
    private let limits: SQLiteLimits
    private let series: TransactionSeries
    private var accounts = WindowAccounts()
    private var known: [Int: Result<StatisticsAnswer, TooManyGroups>] = [:]

    init(_ queries: [StatisticsQuery], _ expired: ExpiredTimes, _ limits: SQLiteLimits, _ series: SeriesMemory) {
        (self.queries, self.expired, self.limits) = (queries, expired, limits)
        self.series = TransactionSeries(series)
    }

    /// Returns an answer to each query.
    mutating func answers(in db: Database) throws -> [Result<StatisticsAnswer, TooManyGroups>] {
        let first = queries.indices.filter { !queries[$0].groups.dependsOnAnswers }
        var sums = first.map { GroupSums(queries[$0], isInSlots: queries[$0].limit == nil, expired, limits, series) }
        let isKeeping = first.count < queries.count || queries.contains(where: \.needsSecondPass)
        let passes = try ChunkPass.add(to: &sums, isKeeping: isKeeping, in: db)
        for (index, sums) in zip(first, sums) {
            known[index] = try sums.answer(to: queries[index], &accounts, in: db)
        }
        for (source, index) in first.enumerated() where sums[source].needsPortions(for: queries[index]) {
            let ranking = PortionedRanking(queries[index], of: sums[source], source, expired, limits)
            known[index] = try known[index]?.ordered(by: ranking, after: passes, in: db)
        }
        var selected = SelectedGroups()
        for (source, index) in first.enumerated() where queries[index].limit != nil {
            guard case .success(let answer) = known[index] else { continue }
            selected.add(answer, to: queries[index], at: index, of: (sums[source], source), expired, limits)
        }
        for index in queries.indices where queries[index].groups.dependsOnAnswers {
            add(index, to: &selected, of: sums, of: first)
        }
        // The selected groups have copies of the look-ups, so the memory of the other groups can be freed.
        sums = []
        try selected.complete(&known, &accounts, after: passes, in: db)
        let dataSince = try FirstData.start(expired, in: db)
        return queries.indices.compactMap { index in
            let sendersSince = sendersSince(index, dataSince)
            let isFiltered = queries[index].filter.wanted[.instance] != nil
            return known[index]?.map {
                $0.with(dataSince: isFiltered ? sendersSince ?? dataSince : dataSince, sendersSince: sendersSince)
            }
        }
    }

    /// Returns the time since when the store has the requests of each sender, if a query needs that and has earlier requests.
    private func sendersSince(_ index: Int, _ dataSince: UnixNanoseconds?) -> UnixNanoseconds? {
        let since = UnixNanoseconds(clamping: expired.fine)
        return queries[index].needsSenders && dataSince.map { $0 < since } ?? false ? since : nil
    }

    /// Adds a query about the groups of other answers.
    ///
    /// - Parameters:
    ///   - sums: the sums of the first pass.
    ///   - first: the indexes of their queries.
    private mutating func add(
        _ index: Int, to selected: inout SelectedGroups, of sums: [GroupSums], of first: [Int]
    ) {
        do {
            let query = try queries[index].naming(groupsOf: known)
            let source = sums.indices.first { sums[$0].canSelect(query, of: queries[first[$0]]) }
            if let source, case .named(let values) = query.groups {
                let groups = sums[source].selecting(
                    values, query, isInSlots: query.step != nil, hasWholes: query.hasFigures, expired, limits)
                selected.add(groups, to: query, at: index, source: source)
            } else {
                let groups = GroupSums(query, isInSlots: true, expired, limits, series)
                selected.add(groups, to: query, at: index, source: nil)
            }
        } catch {
            known[index] = .failure(error)
        }
    }
}

extension StatisticsQuery {
    /// Whether the points of the groups within the limit may need a second read.
    fileprivate var needsSecondPass: Bool { limit != nil && (hasFigures || step != nil) }
}

/// The time at which a store's points begin. A chunk has only the end of its points' intervals. The intervals are at most as
/// long as a slot of the chunk's tier; an agent's intervals are exactly as long.
private enum FirstData {
    /// Returns `nil` if the store has no points.
    static func start(_ expired: ExpiredTimes, in db: Database) throws -> UnixNanoseconds? {
        let chunks = Tier.allCases.flatMap { tier in ChunkState.allCases.map { (tier: tier, state: $0) } }
        let tables = [("chunk", "derived"), ("version_chunk", "1")]
        let starts = try tables.flatMap { table, derived in
            let statement = try db.cachedStatement(
                sql: """
                    SELECT \(derived), end_time FROM \(table) WHERE tier = ? AND rolled = ? ORDER BY end_time LIMIT 1
                    """)
            return try chunks.compactMap { tier, state -> Int64? in
                guard let row = try Row.fetchOne(statement, arguments: [tier.rawValue, state.rawValue]) else {
                    return nil
                }
                let (isDerived, end): (Bool, Int64) = (row[0], row[1])
                // If the finer points that the chunk was merged from still exist, they give the start more exactly.
                let finest = expired.finest(at: end - 1) ?? .fine
                return isDerived && finest.rawValue < tier.rawValue ? nil : end - tier.length
            }
        }
        return starts.min().map { UnixNanoseconds(clamping: $0) }
    }
}

/// Groups that are known after a pass over all points: those within the limits of queries, and those that queries take from other
/// answers (``WantedGroups``). A second pass adds up their figures and slots.
struct SelectedGroups {
    private struct Part {
        let query: StatisticsQuery
        /// The index of the query.
        let index: Int
        let contents: Contents

        func completed(
            _ answer: StatisticsAnswer, by sums: GroupSums
        ) -> Result<StatisticsAnswer, TooManyGroups> {
            if let failure = sums.failure { return .failure(failure) }
            var answer = answer
            if contents == .slots {
                answer.slots = sums.grid.map { GroupSlots(answer.groups, of: sums.slots, in: $0) }
            } else {
                answer.takeGroups(sums.sums, query)
                // The sketches that ordered the groups may have been coarser.
                if query.order.measure.needsBuckets { answer.groups = query.order.first(nil, of: answer.groups) }
            }
            return .success(answer)
        }
    }

    private enum Contents {
        /// The figures of the groups of an answer.
        case figures
        /// The slots of the groups of an answer.
        case slots
        /// An answer to a query about other answers' groups.
        case answer
    }

    private var parts: [Part] = []
    /// The sums of each part.
    private var sums: [GroupSums] = []
    /// The index of the sums from which each part's groups were selected; `nil` for groups that need a new look-up.
    private var sources: [Int?] = []

    /// Adds the groups of a query with a limit whose answer lacks a part.
    ///
    /// - Parameters:
    ///   - index: the index of the query.
    ///   - source: the sums that the answer came from, and their index.
    mutating func add(
        _ answer: StatisticsAnswer, to query: StatisticsQuery, at index: Int, of source: (sums: GroupSums, index: Int),
        _ expired: ExpiredTimes, _ limits: SQLiteLimits
    ) {
        let values = answer.groups.map(\.values)
        if source.sums.isRanking, query.hasFigures {
            let groups = source.sums.selecting(values, query, isInSlots: false, expired, limits)
            add(groups, Part(query: query, index: index, contents: .figures), source.index)
        }
        if query.step != nil {
            let groups = source.sums.selecting(values, query, isInSlots: true, expired, limits)
            add(groups, Part(query: query, index: index, contents: .slots), source.index)
        }
    }

    /// Adds the groups of a query that need a separate answer.
    ///
    /// - Parameters:
    ///   - index: the index of the query.
    ///   - source: the index of the sums from which the groups were selected; `nil` for groups that need a new look-up.
    mutating func add(_ groups: GroupSums, to query: StatisticsQuery, at index: Int, source: Int?) {
        add(groups, Part(query: query, index: index, contents: .answer), source)
    }

    private mutating func add(_ groups: GroupSums, _ part: Part, _ source: Int?) {
        parts.append(part)
        sums.append(groups)
        sources.append(source)
    }

    /// Adds the missing parts of the answers.
    ///
    /// - Parameter passes: the first passes, which have kept their chunks.
    mutating func complete(
        _ answers: inout [Int: Result<StatisticsAnswer, TooManyGroups>], _ accounts: inout WindowAccounts,
        after passes: [ChunkPass], in db: Database
    ) throws {
        guard !sums.isEmpty else { return }
        try ChunkPass.add(toSelected: &sums, of: sources, after: passes, in: db)
        for (part, sums) in zip(parts, sums) {
            switch part.contents {
            case .answer: answers[part.index] = try sums.answer(to: part.query, &accounts, in: db)
            case .figures, .slots:
                answers[part.index] = answers[part.index]?.flatMap { part.completed($0, by: sums) }
            }
        }
    }
}

extension WindowAccounts {
    /// Returns the account of the senders that the filter selects.
    mutating func account(in window: TimeWindow, _ filter: RequestFilter, in db: Database) throws -> WindowAccount {
        if let known = known(in: window, filter) { return known }
        let account = try Completeness.account(in: window, filter.ofSenders, in: db)
        note(account, of: filter)
        return account
    }
}

/// Computes the share of a window's requests that arrived, from the agents' ledgers, and how long capture was off.
///
/// `captured` counts from an instance's start. So a batch that never arrived shows as a difference between the ledgers around it
/// and the requests in the batches. An instance without a reading in the window is judged by its first reading after the window:
/// the window lies within the gap before that reading, or within an hour that has only that reading left.
enum Completeness {
    /// Returns the account of the senders that the filter selects.
    static func account(in window: TimeWindow, _ filter: RequestFilter, in db: Database) throws -> WindowAccount {
        // The sums are doubles, and total() replaces sum(), which would throw: a sender with false numbers must not break a report.
        // CROSS JOIN fixes the order of the tables, so SQLite searches for each instance and does not scan all readings. The HAVING
        // clause leaves out instances that began after the window. An instance without an age counts as begun in the hour of its
        // first reading, because merged batches and thinned ledgers have at least one reading in each hour.
        let (from, to, hour) = (Int64(clamping: window.from), Int64(clamping: window.to), Tier.hour.length)
        let rows = try SQLRequest<Row>(
            literal: """
                SELECT resource.id AS id, resource.service AS service, resource.folded_time AS folded_time,
                    resource.folded_captured AS folded_captured, resource.folded_unwatched AS folded_unwatched,
                    total(l.requests) AS arrived, max(l.captured) AS captured,
                    max(l.time) AS last, max(l.unwatched) AS unwatched,
                    first.time AS first, first.age AS first_age, first.unwatched AS first_unwatched,
                    before.captured AS before, before.time AS before_time, before.unwatched AS before_unwatched,
                    after.time AS after, after.unwatched AS after_unwatched
                FROM (
                    SELECT * FROM \(ResourceRows.since(from)) AND folded_time < \(to) AND \(filter.senderCondition)
                ) AS resource
                CROSS JOIN ledger first ON first.resource_id = resource.id AND first.time = (
                    SELECT min(time) FROM ledger WHERE resource_id = resource.id
                        AND time > max(\(from), resource.folded_time))
                CROSS JOIN ledger l ON l.resource_id = resource.id
                LEFT JOIN ledger before ON before.resource_id = resource.id AND before.time = (
                    SELECT max(time) FROM ledger WHERE resource_id = resource.id
                        AND time <= \(from) AND time > resource.folded_time)
                LEFT JOIN ledger after ON after.resource_id = resource.id AND after.time = (
                    SELECT min(time) FROM ledger WHERE resource_id = resource.id AND time > \(to))
                WHERE l.time > max(\(from), resource.folded_time) AND l.time <= max(\(to), first.time)
                GROUP BY resource.id
                HAVING before.time IS NOT NULL OR resource.folded_time > 0
                    OR iif(first.age > 0, first.time - first.age, (first.time - 1) / \(hour) * \(hour)) < \(to)
                """
        ).fetchCursor(db)
        var account = WindowAccount(window)
        account.uncountedSenders = try uncountedSenders(in: window, filter, in: db)
        account.sharedSenders = try sharedSenders(in: window, filter, in: db)
        account.clocksAhead = try clocksAhead(in: window, filter, in: db)
        var unwatched = try FoldedRows.add(to: &account, filter, in: db)
        while let row = try rows.next() {
            var instance = InstanceReadings(row)
            instance.isCounted = row["folded_time"] > from
            // The hour has the window's reading. The next one shows only whether capture was on.
            if instance.isCounted, instance.first.time > Double(to) { (instance.arrived, instance.captured) = (0, 0) }
            instance.countedUnwatched = unwatched.removeValue(forKey: row["id"])?.unwatched ?? 0
            account.add(instance, of: row["service"])
        }
        for (service, time) in unwatched.values { account.addUnwatched(time, of: service) }
        return account
    }

    /// Returns how far the clocks are ahead, for senders that may have requests in the window and that the filter selects.
    private static func clocksAhead(
        in window: TimeWindow, _ filter: RequestFilter, in db: Database
    ) throws -> WindowAccount.ClocksAhead {
        let (from, tolerance) = (Int64(clamping: window.from), WindowAccount.ClocksAhead.tolerance)
        let row = try SQLRequest<Row>(
            literal: """
                SELECT count(*) AS senders, max(last_end - last_seen) AS longest
                FROM \(ResourceRows.since(from)) AND first_seen <= \(Int64(clamping: window.to))
                    AND last_end >= \(from) AND last_end - last_seen > \(tolerance) AND \(filter.senderCondition)
                """
        ).fetchOne(db)
        guard let row, let longest: Int64 = row["longest"] else { return WindowAccount.ClocksAhead() }
        return WindowAccount.ClocksAhead(senders: row["senders"], longest: UInt64(clamping: longest))
    }

    /// Returns the number of selected senders with points in the window that were not counted for lack of room.
    private static func uncountedSenders(
        in window: TimeWindow, _ filter: RequestFilter, in db: Database
    ) throws -> Int {
        let (from, to) = (Int64(clamping: window.from), Int64(clamping: window.to))
        return try SQLRequest<Int>(
            literal: """
                SELECT count(DISTINCT resource_id) FROM uncounted
                CROSS JOIN resource ON resource.id = resource_id
                WHERE hour BETWEEN \(from / Tier.hour.length) AND \(to / Tier.hour.length)
                    AND to_time > \(from) AND from_time <= \(to) AND \(filter.senderCondition)
                """
        ).fetchOne(db) ?? 0
    }

    /// Returns the number of selected senders that several processes share and that may have points in the window.
    private static func sharedSenders(
        in window: TimeWindow, _ filter: RequestFilter, in db: Database
    ) throws -> Int {
        try SQLRequest<Int>(
            literal: """
                SELECT count(DISTINCT resource_id) FROM cumulative_series
                CROSS JOIN resource ON resource.id = resource_id
                WHERE shared = 1 AND end_time > \(Int64(clamping: window.from))
                    AND start_time <= \(Int64(clamping: window.to)) AND \(filter.senderCondition)
                """
        ).fetchOne(db) ?? 0
    }
}

extension InstanceReadings {
    /// Reads a row of the statement above.
    fileprivate init(_ row: Row) {
        self.init(
            arrived: row["arrived"], captured: row["captured"],
            first: WindowAccount.Reading(time: row["first"], unwatched: row["first_unwatched"]),
            firstAge: row["first_age"],
            last: WindowAccount.Reading(time: row["last"], unwatched: row["unwatched"]))
        if let time: Double = row["before_time"] {
            before = (captured: row["before"], WindowAccount.Reading(time: time, unwatched: row["before_unwatched"]))
        } else if row["folded_time"] > 0 {
            before = (
                captured: row["folded_captured"],
                WindowAccount.Reading(time: row["folded_time"], unwatched: row["folded_unwatched"])
            )
        }
        if let time: Double = row["after"] {
            after = WindowAccount.Reading(time: time, unwatched: row["after_unwatched"])
        }
    }
}
