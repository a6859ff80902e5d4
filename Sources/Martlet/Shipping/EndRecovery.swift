import Foundation
import MartletOTLP
import MartletTelemetry

/// Reports how a dead instance ended, under that instance's identity, in the batch after its last one.
extension JournalRecovery {
    /// Whether the dead instance's end is in a batch already: the instance noted the batch's sequence before it stored the
    /// batch, or the process that took the directory over before this one did. Call it before the journal is recovered,
    /// because the recovered batch may have the same sequence.
    static func hasReportedEnd(_ outbox: borrowing Outbox) -> Bool? {
        guard let sequence = record(in: outbox)?.reportSequence, sequence > 0 else { return false }
        return outbox.lastSequence.map { $0 >= sequence }
    }

    /// Stores a batch that reports the end, and removes the record. Both are left for the next attempt if the batch cannot
    /// be stored now. Call it after the journal was recovered.
    ///
    /// - Parameter isReported: see ``hasReportedEnd(_:)``.
    func reportEnd(of outbox: inout Outbox, isReported: Bool) {
        let path = outbox.path(ProcessRecord.fileName)
        guard !Outbox.isMissing(path) else { return }
        if !isReported, watchesCrashes {
            // A process that finds both the note and the batch does not report the end again, even if this process is killed
            // before it has removed the record.
            guard let last = outbox.lastSequence, note(last &+ 1, as: .reportSequence, in: path),
                (try? store(endBatch(of: outbox), sequence: last &+ 1, in: &outbox)) != nil
            else { return }
        }
        unlink(path)
    }

    private static func record(in outbox: borrowing Outbox) -> EndedRecord? {
        FileManager.default.contents(atPath: outbox.path(ProcessRecord.fileName))?.withUnsafeBytes { EndedRecord($0) }
    }

    /// Writes a note into the record, and waits for the disk.
    private func note(_ value: UInt64, as note: EndedRecord.Note, in path: String) -> Bool {
        guard let file = OwnDescriptor(path: path, O_WRONLY) else { return false }
        let isWritten = withUnsafeBytes(of: value) { bytes in
            pwrite(file.number, bytes.baseAddress, bytes.count, off_t(note.offset)) == bytes.count
        }
        return isWritten && fsync(file.number) == 0
    }

    private func endBatch(of outbox: borrowing Outbox) -> MetricsBatch {
        let owner = try? outbox.owner
        let record = Self.record(in: outbox)
        let end = end(of: outbox, record, templates: owner?.endpoints)
        var batch = MetricsBatch(
            resource: owner?.resource ?? resource(ofInstance: outbox.instance), start: end.time, end: end.time,
            series: [:], instanceStart: record?.start ?? end.time, ledger: outbox.ledger(unsealed: 0))
        batch.ends = [end]
        return batch
    }

    private func end(
        of outbox: borrowing Outbox, _ record: EndedRecord?, templates: [String]?
    ) -> InstanceEnd {
        guard let record else { return InstanceEnd(instance: outbox.instance, cause: .unknown, time: Clock.wall()) }
        let cause = record.cause(on: .now(ofProcess: record.processID))
        // The clock may have been set back since.
        var end = InstanceEnd(instance: outbox.instance, cause: cause, time: min(record.time(of: cause), Clock.wall()))
        end.inFlight = record.inFlight
        end.requests = record.requests(EndpointNamer(templates: templates ?? []))
        guard cause == .signal else { return end }
        end.signal = record.signal
        addPlaces(of: record, in: outbox.path(ProcessRecord.fileName), to: &end)
        return end
    }

    /// Adds the places of the crash. Only a program with the same build id has the same code at an address. If several
    /// processes ended while they read the debug information, that may be the reason: the places are addresses then.
    private func addPlaces(of record: EndedRecord, in path: String, to end: inout InstanceEnd) {
        let offsets = record.offsets
        guard !offsets.isEmpty else { return }
        let isSame = !record.build.isEmpty && record.build == CodePlaces.Program.own.build
        if isSame, record.searches < MartletLimits.crashSearches, note(record.searches + 1, as: .searches, in: path) {
            end.places = CodePlaces.find(offsets, isFirstReturn: record.isFirstReturn)
        }
        guard end.places.isEmpty else { return }
        let program = ProcessInfo.processInfo.processName
        end.places = offsets.prefix(MartletLimits.crashFrames).map { CodePlaces.unknown($0, of: program) }
        end.build = record.build.map { String(0x100 | UInt16($0), radix: 16).dropFirst() }.joined()
    }
}

extension EndedRecord.Host {
    /// Returns what is known now, with the process that has a number.
    fileprivate static func now(ofProcess process: UInt64) -> Self {
        Self(
            boot: MemoryPressure.boot(), memoryKills: MemoryPressure.kills(),
            processStart: ProcessSample.processStart(of: "\(process)"))
    }
}
