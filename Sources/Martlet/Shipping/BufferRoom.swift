import Foundation
import MartletOTLP
import MartletTelemetry

/// Keeps the files of all instances of a service within `MARTLET_BUFFER_MAX`, in the room that they take on the disk. It
/// removes files in quarantine first, then details, then resolution in time (``BatchMerge``), and only then the oldest
/// requests.
///
/// It does not change a batch of another living process, which may be sending it. It may only drop such a batch, and
/// only if it is the oldest of all. That process then finds it missing.
struct BufferRoom {
    let serviceDirectory: URL
    let limit: Int
    private var merge = BatchMerge()
    /// The size at which room is made, in bytes.
    private var threshold: Int
    /// The room of everything except batches, as last measured.
    private(set) var overhead = 0
    /// Whether a batch was dropped to make room.
    private(set) var hasDropped = false

    init(serviceDirectory: URL, limit: Int) {
        self.serviceDirectory = serviceDirectory
        self.limit = limit
        threshold = share(MartletLimits.roomFrom, of: limit)
    }

    /// The room of all batches and quarantined files, in bytes.
    var size: Int { measured().batches }

    /// Measures everything. Returns the same as ``size``.
    mutating func measure() -> Int {
        let measured = measured()
        overhead = measured.others
        return measured.batches
    }

    /// - Parameter size: the room of all batches, in bytes.
    func isShort(at size: Int) -> Bool { size + overhead > min(threshold, limit) }

    /// Makes room for `bytes` more.
    ///
    /// - Returns: whether they fit. Nothing is dropped if they can never fit.
    mutating func make(for bytes: Int, own: inout Outbox) -> Bool {
        guard bytes <= limit else { return false }
        var usage = Usage(size: measure() + overhead + bytes, limit: limit)
        usage.size -= removeEmptyDirectories()
        forEachOutbox(&own, where: Self.hasDetails) { outbox in Self.removeDetails(of: &outbox, &usage) }
        for resolution in MartletLimits.mergeResolutions where usage.mayMerge {
            var merge = merge
            forEachOutbox(&own, where: Self.hasNeighbours) { outbox in merge.run(resolution, in: &outbox, &usage) }
            self.merge = merge
        }
        threshold = usage.nextThreshold
        dropOldest(&own, &usage)
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

    private static func hasDetails(_ directory: URL) -> Bool {
        Quarantine(outbox: directory).size > 0
            || StoredBatch.all(in: directory)?.contains { $0.file.signal == .traces } == true
    }

    private static func hasNeighbours(_ directory: URL) -> Bool {
        (StoredBatch.all(in: directory) ?? []).count { $0.file.signal == .metrics } > 1
    }

    private static func removeDetails(of outbox: inout Outbox, _ usage: inout Usage) {
        if usage.isLow { return }
        usage.size -= outbox.quarantine.size
        outbox.quarantine.removeAll()
        for batch in outbox.batches() ?? [] where batch.file.signal == .traces && !usage.isLow {
            outbox.settle(batch.file, as: .dropped(.bufferFull))
            usage.size -= batch.size
        }
    }

    /// Returns the room of all batches and quarantined files, and the room of the directories and their other files.
    /// Journals and records are not counted: the agent adds its own, and makes small batches of those of dead instances.
    private func measured() -> (batches: Int, others: Int) {
        BufferDirectory.instances(in: serviceDirectory).reduce(into: (batches: 0, others: 0)) { sum, instance in
            let directory = serviceDirectory.appendingPathComponent(instance, isDirectory: true)
            sum.batches += Quarantine(outbox: directory).size
            sum.others += Self.overhead(of: directory.path)
            sum.batches += (StoredBatch.all(in: directory) ?? []).reduce(0) { $0 + $1.size }
        }
    }

    /// Returns the room of a directory and of the files in it that are neither batches, segments of the journal nor a record.
    private static func overhead(of directory: String) -> Int {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        let others = names.filter {
            !$0.hasSuffix(JournalFormat.fileSuffix) && $0 != ProcessRecord.fileName && BatchFile(name: $0) == nil
        }
        return others.reduce(DiskUse.bytes(at: directory)) { $0 + DiskUse.bytes(at: "\(directory)/\($1)") }
    }

    /// Whether so many processes have left directories that these must go, with the losses that they have to report.
    private var isCrowded: Bool { overhead > share(MartletLimits.directories, of: limit) }

    /// Removes directories of dead processes in which no batch waits, if there are too many.
    ///
    /// - Returns: the room that this freed, in bytes.
    private mutating func removeEmptyDirectories() -> Int {
        let before = overhead
        for instance in BufferDirectory.instances(in: serviceDirectory) where isCrowded {
            let directory = serviceDirectory.appendingPathComponent(instance, isDirectory: true)
            guard StoredBatch.all(in: directory)?.isEmpty == true else { continue }
            let room = Self.overhead(of: directory.path)
            Outbox.adopt(instance: instance, in: serviceDirectory)?.close(isForgotten: true)
            overhead -= room - Self.overhead(of: directory.path)
        }
        return before - overhead
    }

    /// Drops the oldest batches until the rest fits. Batches that may have arrived are dropped last: their requests
    /// would be counted as dropped although the collector has them.
    private mutating func dropOldest(_ own: inout Outbox, _ usage: inout Usage) {
        guard usage.size > limit else { return }
        let all: [(instance: String, batch: StoredBatch)] = BufferDirectory.instances(in: serviceDirectory).flatMap {
            instance in
            let directory = serviceDirectory.appendingPathComponent(instance, isDirectory: true)
            return (StoredBatch.all(in: directory) ?? []).map { (instance: instance, batch: $0) }
        }
        for (instance, batch) in all.sorted(by: { $0.batch.isDroppedBefore($1.batch) }) where usage.size > limit {
            usage.size -= drop(batch, of: instance, &own)
        }
    }

    /// - Returns: the room that this freed, in bytes.
    private mutating func drop(_ batch: StoredBatch, of instance: String, _ own: inout Outbox) -> Int {
        let directory = serviceDirectory.appendingPathComponent(instance).path
        let path = "\(directory)/\(batch.file.name)"
        let before = Self.overhead(of: directory)
        if instance == own.instance {
            own.dropToMakeRoom(batch.file)
        } else if var outbox = Outbox.adopt(instance: instance, in: serviceDirectory) {
            outbox.dropToMakeRoom(batch.file)
            outbox.close(isForgotten: isCrowded)
        } else {
            unlink(path)
        }
        let freed = before - Self.overhead(of: directory)
        overhead -= freed
        guard Outbox.isMissing(path) else { return freed }
        hasDropped = true
        return freed + batch.size
    }

    /// Runs `body` for the outboxes of dead instances, which are older, and then for `own`.
    ///
    /// - Parameter isWanted: whether a dead instance's directory is worth opening.
    private func forEachOutbox(_ own: inout Outbox, where isWanted: (URL) -> Bool, _ body: (inout Outbox) -> Void) {
        for instance in BufferDirectory.instances(in: serviceDirectory) where instance != own.instance {
            guard isWanted(serviceDirectory.appendingPathComponent(instance, isDirectory: true)),
                var outbox = Outbox.adopt(instance: instance, in: serviceDirectory)
            else { continue }
            body(&outbox)
            outbox.close()
        }
        body(&own)
    }
}

private func share(_ share: Double, of limit: Int) -> Int { Int(Double(limit) * share) }

extension StoredBatch {
    fileprivate func isDroppedBefore(_ other: StoredBatch) -> Bool {
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
        return group.batches.reduce(0) { $0 + $1.size } - outbox.size(of: merged.file)
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
