import Foundation
import MartletTelemetry

/// Keeps the batches of all instances of a service within `MARTLET_BUFFER_MAX`. It removes files in quarantine first, then
/// details, then resolution in time (``BatchMerge``), and only then the oldest requests.
///
/// It changes no batch of another living process, which may be sending it. It only drops such a batch if it is the oldest of
/// all, and that process finds it gone.
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

        /// Whether merging may go on: within the limit for its CPU time, past the limit for as long as it takes.
        var mayMerge: Bool { !isLow && (size > limit || !isTimeUp) }

        /// The size at which room is made next: at the next batch if the time was up, and later if nothing is left to merge.
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

    /// Drops the oldest batch. A batch that may have arrived goes last: its requests would be counted as dropped although the
    /// collector has them.
    ///
    /// - Returns: the bytes that it had; `nil` if nothing can be dropped.
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
