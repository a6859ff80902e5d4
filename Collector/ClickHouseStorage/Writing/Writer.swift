import MartletStorage
import MartletTelemetry

/// Stores groups of batches, one group after the other.
///
/// The rows of a batch are inserted before the row for its number. So if the number is stored, the whole batch is. A batch that
/// was stored only in part has not been acknowledged, so it is resent, and its rows replace themselves.
actor Writer {
    /// The largest number of cached series. Beyond it, the cache is cleared, and series are written again.
    private static let maxSeries = 200_000

    private let client: ClickHouseClient
    private let onStored: OnStored
    private var senders = SenderStates()
    private let changedHours = ChangedHours()
    private var knownSeries: Set<SeriesDay> = []
    private var lastSpan: Int64 = 0

    init(_ client: ClickHouseClient, onStored: @escaping OnStored) {
        self.client = client
        self.onStored = onStored
    }

    /// Stores all batches or throws. If it throws, any of them may have been stored in part.
    func write(_ batches: [PendingBatch]) async throws -> [StoreOutcome] {
        var group = try await WriteGroup(batches, client)
        let outcomes = try batches.map { try add($0, to: &group) }
        let new = addSeries(of: group.added, to: &group.series)
        try await insert(group.inOrder, changing: group.changes)
        try await client.insert(group.batches)
        remember(new)
        if !group.added.isEmpty || group.spans > 0 { onStored(group.added, group.spans) }
        return outcomes
    }

    /// Stores the differences of cumulative figures. It may run at the same time as the other `write`, because they have no
    /// rows in common.
    func write(_ counted: CumulativeDeltas) async throws {
        var series = TableRows(Schema.series)
        let added = counted.added
        let new = addSeries(of: added, to: &series)
        try await insert([series] + counted.differences, changing: counted.changes)
        try await client.insert(counted.counted)
        remember(new)
        if !added.isEmpty { onStored(added, 0) }
    }

    /// Inserts rows after recording the hours that they change.
    private func insert(_ tables: [TableRows], changing changes: HourChanges) async throws {
        let start = ContinuousClock.now
        try await client.insert(changedHours.rows(of: changes))
        for rows in tables { try await client.insert(rows) }
        // Another collector may have built one of these hours meanwhile, on the assumption that the insert had ended.
        guard ContinuousClock.now - start > ChangedHours.patience else { return }
        try await client.insert(changedHours.rows(of: changes))
    }

    private func remember(_ new: Set<SeriesDay>) {
        if knownSeries.count + new.count > Self.maxSeries { knownSeries = [] }
        knownSeries.formUnion(new)
    }

    private func add(_ batch: PendingBatch, to group: inout WriteGroup) throws -> StoreOutcome {
        let arrival = batch.id.map { group.known.arrival(of: $0) }
        if arrival?.outcome == .duplicate { return .duplicate }
        let isNew: Bool
        switch batch.contents {
        case .metrics(let metrics):
            isNew = metrics.isEmpty || metrics.reduce(false) { add($1, of: batch, to: &group) || $0 }
        case .details(let details):
            for one in details { try add(one, of: batch, to: &group) }
            isNew = true
        }
        if let id = batch.id, let arrival { group.note(id, arrival, of: batch) }
        return isNew ? arrival?.outcome ?? .stored : .duplicate
    }

    /// Returns whether any of the metrics had not been stored before.
    private func add(_ metrics: InstanceMetrics, of batch: PendingBatch, to group: inout WriteGroup) -> Bool {
        let sender = RowIdentity.sender(metrics.resource)
        let points: [RequestPoint]
        if let id = batch.id {
            points = metrics.points
            group.points.append(points, of: metrics.resource, sender: sender, batch: RowIdentity.batch(id))
        } else {
            points = group.addUnnumbered(metrics, sender: sender)
        }
        let isCumulativeNew = group.addCumulative(metrics, of: batch, sender: sender)
        group.add(metrics.process, of: metrics.resource, sender: sender, batch: batch.id)
        if let ledger = metrics.ledger {
            group.add(ledger, requests: metrics.requests, sender: sender, batch: batch.id)
        }
        senders.note(
            metrics.resource, id: sender, at: batch.arrival, until: metrics.latestEnd,
            points: metrics.resource.isMartlet ? points : points + metrics.cumulative.map(\.point),
            ledger: metrics.ledger, in: &group.senders)
        var added = InstanceMetrics(resource: metrics.resource, points: points)
        added.ends = group.add(metrics.ends, from: metrics.resource)
        group.added.append(added)
        return isCumulativeNew == true || !points.isEmpty || (metrics.points.isEmpty && isCumulativeNew == nil)
    }

    private func add(_ details: DetailsBatch, of batch: PendingBatch, to group: inout WriteGroup) throws {
        let sender = RowIdentity.sender(details.resource)
        var new = details
        new.details = []
        for span in details.details {
            let identity = RowIdentity.span(span, of: sender, in: batch.id)
            // A sender that does not number its batches may have sent the span before.
            guard group.isNew(span, identity: identity, in: batch.id) else { continue }
            lastSpan = max(Int64(clamping: batch.arrival), lastSpan + 1)
            try group.details.append(
                span, of: details.resource, sender: sender, identity: identity, stored: lastSpan)
            new.details.append(span)
        }
        // A point's identity depends on its position, so the order must be the same when the spans are resent.
        var points = group.points(of: new, sender: sender).sorted {
            ($0.end, PointSeries($0.series).id) < ($1.end, PointSeries($1.series).id)
        }
        if batch.id == nil, !points.isEmpty, !group.noteCounted(details) { points = [] }
        let name = batch.id.map(RowIdentity.batch) ?? CountedSpans.name(of: details)
        group.points.append(points, of: details.resource, sender: sender, batch: name)
        senders.note(
            details.resource, id: sender, at: batch.arrival, until: details.latestEnd, points: points,
            in: &group.senders)
        group.added.append(InstanceMetrics(resource: details.resource, points: points))
        group.spans += new.details.count
    }

    /// Adds the rows of series that are new on their day, and returns these series.
    private func addSeries(of added: [InstanceMetrics], to rows: inout TableRows) -> Set<SeriesDay> {
        var new: Set<SeriesDay> = []
        for metrics in added {
            for point in metrics.points {
                let day = SeriesDay(point, of: metrics.resource)
                guard !knownSeries.contains(day), new.insert(day).inserted else { continue }
                rows.append(point.dimensions, of: day)
            }
        }
        return new
    }
}
