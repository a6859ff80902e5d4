import Foundation
import MartletTelemetry

/// Keeps the batches of all instances of a service within `MARTLET_BUFFER_MAX`. What has to go goes in this order: files in
/// quarantine, details, resolution in time (``BatchMerge``), and only then the oldest requests.
///
/// Of other living processes nothing is changed, because they may be sending it; the oldest of theirs goes last, and they
/// find it gone.
struct BufferRoom {
    let service: URL
    let limit: Int
    private var merge = BatchMerge()
    /// At this size there is something to do.
    private var mark: Int

    init(service: URL, limit: Int) {
        self.service = service
        self.limit = limit
        mark = share(MartletLimits.roomFrom, of: limit)
    }

    /// In bytes.
    var size: Int {
        BufferDirectory.instances(in: service).reduce(0) { sum, instance in
            let directory = service.appendingPathComponent(instance, isDirectory: true)
            let batches = StoredBatch.all(in: directory) ?? []
            return batches.reduce(sum + Quarantine(outbox: directory).size) { $0 + $1.size }
        }
    }

    func isShort(at size: Int) -> Bool { size > min(mark, limit) }

    /// Makes room for `bytes` more. False when they can never fit: nothing is dropped then.
    mutating func make(for bytes: Int, own: inout Outbox) -> Bool {
        guard bytes <= limit else { return false }
        var need = Need(size: size + bytes, limit: limit)
        forEachOutbox(&own) { outbox in Self.removeDetails(of: &outbox, &need) }
        for window in MartletLimits.mergeWindows where need.mayMerge {
            var merge = merge
            forEachOutbox(&own) { outbox in merge.run(window, in: &outbox, &need) }
            self.merge = merge
        }
        mark = need.nextMark
        while need.size > limit, let freed = dropOldest(&own) { need.size -= freed }
        return need.size <= limit
    }

    /// How much there is and how much there may be.
    struct Need {
        var size: Int
        let limit: Int
        private let begin = Clock.threadCPU()

        init(size: Int, limit: Int) {
            self.size = size
            self.limit = limit
        }

        var isMet: Bool { size <= share(MartletLimits.roomUntil, of: limit) }

        /// Within the limit merging takes no more than its time, past it as long as it takes.
        var mayMerge: Bool { !isMet && (size > limit || !isTimeUp) }

        /// Out of time it goes on at the next batch; where nothing is left to merge, later.
        var nextMark: Int {
            if isMet { return share(MartletLimits.roomFrom, of: limit) }
            return isTimeUp ? 0 : size + share(MartletLimits.roomGrowth, of: limit)
        }

        private var isTimeUp: Bool { Clock.threadCPU() &- begin >= MartletLimits.mergeTime.nanoseconds }
    }

    // MARK: -

    private static func removeDetails(of outbox: inout Outbox, _ need: inout Need) {
        if need.isMet { return }
        need.size -= outbox.quarantine.size
        outbox.quarantine.removeAll()
        for batch in outbox.batches() ?? [] where batch.file.signal == .traces && !need.isMet {
            outbox.settle(batch.file, as: .dropped(.bufferFull))
            need.size -= batch.size
        }
    }

    /// Returns how many bytes it had; `nil` when there is nothing to drop. What may have arrived goes last: its requests
    /// would be counted as dropped, and be there.
    private func dropOldest(_ own: inout Outbox) -> Int? {
        var oldest: (instance: String, batch: StoredBatch)?
        for instance in BufferDirectory.instances(in: service) {
            let batches = StoredBatch.all(in: service.appendingPathComponent(instance, isDirectory: true)) ?? []
            for batch in batches where batch.isDroppedBefore(oldest?.batch) { oldest = (instance, batch) }
        }
        guard let (instance, batch) = oldest else { return nil }
        let path = service.appendingPathComponent("\(instance)/\(batch.file.name)").path
        if instance == own.instance {
            own.dropToMakeRoom(batch.file)
        } else if var outbox = Outbox.adopt(instance: instance, in: service) {
            outbox.dropToMakeRoom(batch.file)
            outbox.close()
        } else {
            unlink(path)
        }
        return Outbox.isMissing(path) ? batch.size : nil
    }

    /// The dead ones first, which are older.
    private func forEachOutbox(_ own: inout Outbox, _ body: (inout Outbox) -> Void) {
        for instance in BufferDirectory.instances(in: service) where instance != own.instance {
            guard var outbox = Outbox.adopt(instance: instance, in: service) else { continue }
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
        guard file.isSent == other.file.isSent else { return other.file.isSent }
        return (modified, file.sequence, file.part) < (other.modified, other.file.sequence, other.file.part)
    }
}
