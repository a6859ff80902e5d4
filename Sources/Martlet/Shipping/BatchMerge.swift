import Foundation
import MartletOTLP
import MartletTelemetry

/// Merges an outbox's batches of metrics into coarser intervals, the oldest first. Every count stays, and resolution in time
/// is lost. It takes only batches that were never sent, follow one another without a gap and have one resource.
struct BatchMerge {
    /// Neighbours that cannot be merged with each other, so that they are not read again.
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

    /// Returns the runs of batches that become one: neighbours whose intervals ended in the same coarser interval.
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

    /// Merges a run of batches, and returns how many bytes that freed.
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
    /// Returns whether the batch follows the other without a gap in the same coarser interval, and both may be changed.
    ///
    /// - Parameter resolution: the length of the coarser interval, in nanoseconds.
    fileprivate func follows(_ other: StoredBatch, within resolution: UInt64) -> Bool {
        canMerge && other.canMerge && other.file.sequence &+ 1 == file.first
            && other.modified / resolution == modified / resolution
    }

    private var canMerge: Bool { !file.mayHaveArrived && file.part.isEmpty }
}
