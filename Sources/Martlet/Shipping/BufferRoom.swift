import Foundation
import MartletOTLP
import MartletTelemetry

/// Keeps the batches of all instances of a service within `MARTLET_BUFFER_MAX`. It removes files in quarantine first,
/// then details, then resolution in time (``BatchMerge``), and only then the oldest requests.
///
/// It does not change a batch of another living process, which may be sending it. It may only drop such a batch, and
/// only if it is the oldest of all. That process then finds it missing.
struct BufferRoom {
    let serviceDirectory: URL
    let limit: Int
    private var merge = BatchMerge()
    /// The size at which room is made, in bytes.
    private var threshold: Int

    init(serviceDirectory: URL, limit: Int) {
        self.serviceDirectory = serviceDirectory
        self.limit = limit
        threshold = share(MartletLimits.roomFrom, of: limit)
    }

    /// The size of all batches and quarantined files, in bytes.
    var size: Int {
        BufferDirectory.instances(in: serviceDirectory).reduce(0) { sum, instance in
            let directory = serviceDirectory.appendingPathComponent(instance, isDirectory: true)
            let batches = StoredBatch.all(in: directory) ?? []
            return batches.reduce(sum + Quarantine(outbox: directory).size) { $0 + $1.size }
        }
    }

    func isShort(at size: Int) -> Bool { size > min(threshold, limit) }

    /// Makes room for `bytes` more.
    ///
    /// - Returns: whether they fit. Nothing is dropped if they can never fit.
    mutating func make(for bytes: Int, own: inout Outbox) -> Bool {
        guard bytes <= limit else { return false }
        var usage = Usage(size: size + bytes, limit: limit)
        forEachOutbox(&own) { outbox in Self.removeDetails(of: &outbox, &usage) }
        for resolution in MartletLimits.mergeResolutions where usage.mayMerge {
            var merge = merge
            forEachOutbox(&own) { outbox in merge.run(resolution, in: &outbox, &usage) }
            self.merge = merge
        }
        threshold = usage.nextThreshold
        while usage.size > limit, let freed = dropOldest(&own) { usage.size -= freed }
        return usage.size <= limit
    }

    /// The bytes in the buffer and its limit.
    struct Usage {
        var size: Int
        let limit: Int
        private let begin = Clock.threadCPU()

        init(size: Int, limit: Int) {
            self.size = size
            self.limit = limit
        }

        var isLow: Bool { size <= share(MartletLimits.roomUntil, of: limit) }

        /// Whether merging may continue. Within the size limit its CPU time is limited; above it, it takes as long as
        /// needed.
        var mayMerge: Bool { !isLow && (size > limit || !isTimeUp) }

        /// The size at which to make room next: at the next batch if the time was up, and later if nothing is left to
        /// merge.
        var nextThreshold: Int {
            if isLow { return share(MartletLimits.roomFrom, of: limit) }
            return isTimeUp ? 0 : size + share(MartletLimits.roomGrowth, of: limit)
        }

        private var isTimeUp: Bool { Clock.threadCPU() &- begin >= MartletLimits.mergeTime.nanoseconds }
    }

    // MARK: -

    private static func removeDetails(of outbox: inout Outbox, _ usage: inout Usage) {
        if usage.isLow { return }
        usage.size -= outbox.quarantine.size
        outbox.quarantine.removeAll()
        for batch in outbox.batches() ?? [] where batch.file.signal == .traces && !usage.isLow {
            outbox.settle(batch.file, as: .dropped(.bufferFull))
            usage.size -= batch.size
        }
    }

    /// Drops the oldest batch. A batch that may have arrived is dropped last: its requests would be counted as dropped
    /// although the collector has them.
    ///
    /// - Returns: the size of that batch in bytes; `nil` if nothing can be dropped.
    private func dropOldest(_ own: inout Outbox) -> Int? {
        var oldest: (instance: String, batch: StoredBatch)?
        for instance in BufferDirectory.instances(in: serviceDirectory) {
            let batches =
                StoredBatch.all(in: serviceDirectory.appendingPathComponent(instance, isDirectory: true)) ?? []
            for batch in batches where batch.isDroppedBefore(oldest?.batch) { oldest = (instance, batch) }
        }
        guard let (instance, batch) = oldest else { return nil }
        let path = serviceDirectory.appendingPathComponent("\(instance)/\(batch.file.name)").path
        if instance == own.instance {
            own.dropToMakeRoom(batch.file)
        } else if var outbox = Outbox.adopt(instance: instance, in: serviceDirectory) {
            outbox.dropToMakeRoom(batch.file)
            outbox.close()
        } else {
            unlink(path)
        }
        return Outbox.isMissing(path) ? batch.size : nil
    }

    /// Runs `body` for the outboxes of dead instances, which are older, and then for `own`.
    private func forEachOutbox(_ own: inout Outbox, _ body: (inout Outbox) -> Void) {
        for instance in BufferDirectory.instances(in: serviceDirectory) where instance != own.instance {
            guard var outbox = Outbox.adopt(instance: instance, in: serviceDirectory) else { continue }
            body(&outbox)
            outbox.close()
        }
        body(&own)
    }
}

private func share(_ share: Double, of limit: Int) -> Int { Int(Double(limit) * share) }

extension StoredBatch {
    fileprivate func isDroppedBefore(_ other: StoredBatch?) -> Bool {
        guard let other else { return true }
        guard file.mayHaveArrived == other.file.mayHaveArrived else { return other.file.mayHaveArrived }
        return (modified, file.sequence, file.part) < (other.modified, other.file.sequence, other.file.part)
    }
}

/// Merges an outbox's batches of metrics into coarser intervals, the oldest first. All counts stay exact; only
/// resolution in time is lost. It merges only batches that were never sent, are consecutive and have the same resource.
struct BatchMerge {
    /// Neighbours that cannot be merged, so that they are not read again.
    private var refused: Set<Pair> = []

    struct Pair: Hashable {
        let first: BatchFile
        let second: BatchFile
    }

    mutating func run(_ resolution: Duration, in outbox: inout Outbox, _ usage: inout BufferRoom.Usage) {
        guard usage.mayMerge, let batches = outbox.batches() else { return }
        for run in Self.runs(in: batches, resolution: resolution.nanoseconds, apart: refused) {
            guard usage.mayMerge else { return }
            usage.size -= merge(run, in: &outbox)
        }
    }

    /// Returns the runs of batches to merge: neighbours whose intervals ended in the same coarser interval.
    ///
    /// - Parameter resolution: the length of the coarser interval, in nanoseconds.
    static func runs(
        in batches: [StoredBatch], resolution: UInt64, apart: Set<Pair> = []
    ) -> [ArraySlice<StoredBatch>] {
        var runs: [ArraySlice<StoredBatch>] = []
        let metrics = batches.filter { $0.file.signal == .metrics }
        var run = metrics[..<0]
        var bytes = 0
        for (index, batch) in metrics.enumerated() {
            if let first = run.first, let last = run.last, batch.follows(last, within: resolution),
                batch.file.sequence - first.file.first < BatchID.maxIntervals,
                bytes + batch.size <= MartletLimits.mergeBytes,
                !apart.contains(Pair(first: last.file, second: batch.file))
            {
                run = metrics[run.startIndex...index]
            } else {
                runs.append(run)
                (run, bytes) = (metrics[index...index], 0)
            }
            bytes += batch.size
        }
        return (runs + [run]).filter { $0.count > 1 }
    }

    /// Merges a run of batches. Returns how many bytes this freed.
    private mutating func merge(_ run: ArraySlice<StoredBatch>, in outbox: inout Outbox) -> Int {
        var freed = 0
        var group = Group()
        var before: StoredBatch?
        for batch in run {
            let body = outbox.read(batch.file).flatMap { batch.file.plain($0) }
            if !group.add(batch, body) {
                freed += Self.replace(group, in: &outbox)
                if let before { refuse(Pair(first: before.file, second: batch.file)) }
                group = Group(batch, body)
            }
            before = batch
        }
        return freed + Self.replace(group, in: &outbox)
    }

    /// Batches and their merged metrics, which replace them as soon as they are written.
    private struct Group {
        private(set) var batches: [StoredBatch] = []
        private(set) var metrics: MergedMetrics?

        init() {}

        init(_ batch: StoredBatch, _ body: [UInt8]?) {
            batches = [batch]
            metrics = body.flatMap(MergedMetrics.init)
        }

        mutating func add(_ batch: StoredBatch, _ body: [UInt8]?) -> Bool {
            guard let body, metrics?.add(body) == true else { return false }
            batches.append(batch)
            return true
        }
    }

    private static func replace(_ group: Group, in outbox: inout Outbox) -> Int {
        guard group.batches.count > 1, let first = group.batches.first?.file, let last = group.batches.last?.file,
            let message = try? group.metrics?.otlp(),
            let merged = try? EncodedBatch(
                message, sequence: last.sequence, first: first.first, signal: .metrics,
                requests: group.batches.reduce(0) { $0 &+ $1.file.requests }, isCompressed: last.isCompressed),
            (try? outbox.merge(group.batches, into: merged)) != nil
        else { return 0 }
        return group.batches.reduce(0) { $0 + $1.size } - merged.body.count
    }

    private mutating func refuse(_ pair: Pair) {
        if refused.count >= MartletLimits.refusedMerges { refused = [] }
        refused.insert(pair)
    }
}

extension StoredBatch {
    /// Returns whether both batches may be changed, and this one directly follows the other in the same coarser
    /// interval.
    ///
    /// - Parameter resolution: the length of the coarser interval, in nanoseconds.
    fileprivate func follows(_ other: StoredBatch, within resolution: UInt64) -> Bool {
        canMerge && other.canMerge && other.file.sequence &+ 1 == file.first
            && other.modified / resolution == modified / resolution
    }

    private var canMerge: Bool { !file.mayHaveArrived && file.part.isEmpty }
}
