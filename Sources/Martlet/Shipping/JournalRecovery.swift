import Foundation
import MartletOTLP
import MartletTelemetry

/// Makes batches of the requests that a dead instance recorded but did not seal, under that instance's identity.
struct JournalRecovery {
    private let configuration: MartletConfiguration

    init(_ configuration: MartletConfiguration) {
        self.configuration = configuration
    }

    var watchesCrashes: Bool { configuration.watchCrashes }

    /// Seals the journal's segments in an outbox and removes them, and then reports the instance's end. Segments that cannot
    /// be read or stored now stay for the next attempt.
    func recover(_ outbox: inout Outbox) {
        guard let batches = outbox.batches(), let isReported = Self.hasReportedEnd(outbox),
            let found = segments(in: outbox)
        else { return }
        for (sequence, segments) in found.sorted(by: { $0.key < $1.key }) {
            do {
                if !Self.isSealed(sequence, in: batches, outbox.account) { try seal(segments, sequence, in: &outbox) }
                for segment in segments { segment.remove() }
            } catch {
                return
            }
        }
        reportEnd(of: &outbox, isReported: isReported)
    }

    /// Returns whether an interval became a batch that waits or is settled. A waiting batch of a later interval proves
    /// nothing about an earlier one.
    private static func isSealed(_ sequence: UInt64, in batches: [StoredBatch], _ account: OutboxAccount) -> Bool {
        sequence <= account.lastSettledSequence
            || batches.contains { $0.file.signal == .metrics && $0.file.first...$0.file.sequence ~= sequence }
    }

    /// Stores a batch that has only the ledger, if the account has losses that no earlier batch reported. Call it once
    /// all other batches of metrics are gone.
    ///
    /// - Returns: the losses; `nil` if no batch was stored.
    func storeLosses(of outbox: inout Outbox) -> [DropReason: UInt64]? {
        guard outbox.hasUnreportedLoss, let left = outbox.batches(), let last = outbox.lastSequence,
            !left.contains(where: { $0.file.signal == .metrics }), segments(in: outbox)?.isEmpty == true
        else { return nil }
        let batch = ledgerBatch(of: outbox)
        guard (try? store(batch, sequence: last &+ 1, in: &outbox)) != nil else { return nil }
        outbox.noteReport()
        return batch.ledger.dropped
    }

    private func ledgerBatch(of outbox: borrowing Outbox) -> MetricsBatch {
        let now = Clock.wall()
        return MetricsBatch(
            resource: (try? outbox.owner?.resource) ?? resource(ofInstance: outbox.instance), start: now, end: now,
            series: [:], instanceStart: now, ledger: outbox.ledger(unsealed: 0))
    }

    func store(_ batch: MetricsBatch, sequence: UInt64, in outbox: inout Outbox) throws {
        let encoded = try EncodedBatch(
            batch.otlp(), sequence: sequence, signal: .metrics, requests: batch.requests,
            isCompressed: configuration.compression == .gzip)
        try outbox.store(encoded.body, as: encoded.file)
    }

    /// Returns the segments by the sequence of their interval. Removes blank ones and moves damaged ones to quarantine.
    /// `nil` if one cannot be read now: its interval would be sealed without it for good.
    private func segments(in outbox: borrowing Outbox) -> [UInt64: [RecoveredSegment]]? {
        var segments: [UInt64: [RecoveredSegment]] = [:]
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: outbox.directory.path) else {
            return nil
        }
        for name in names where name.hasSuffix(JournalFormat.fileSuffix) {
            let path = outbox.path(name)
            switch RecoveredSegment.read(path) {
            case .segment(let segment): segments[segment.header.sequence, default: []].append(segment)
            case .blank: unlink(path)
            case .damaged: outbox.quarantine.take(path, as: name)
            case nil where Outbox.isMissing(path): continue
            case nil: return nil
            }
        }
        return segments
    }

    private func seal(_ segments: [RecoveredSegment], _ sequence: UInt64, in outbox: inout Outbox) throws {
        let owner = try? outbox.owner
        var configuration = configuration
        // The endpoints are named by the dead instance's templates.
        if let templates = owner?.endpoints { configuration.endpoints = templates }
        var statistics = SeriesStatistics(configuration, start: segments.map(\.header.start).min() ?? Clock.wall())
        for segment in segments { segment.count(into: &statistics) }
        let interval = statistics.take(at: nil)
        guard !interval.series.isEmpty else { return }
        var batch = MetricsBatch(
            resource: owner?.resource ?? resource(ofInstance: outbox.instance),
            start: interval.start, end: interval.end, series: interval.series, sizes: interval.sizes,
            instanceStart: interval.start, ledger: Ledger(), captureGap: segments.map(\.captureGap).max() ?? 0)
        batch.ledger = outbox.ledger(unsealed: batch.requests)
        var encoded = try EncodedBatch(
            batch.otlp(), sequence: sequence, signal: .metrics, requests: batch.requests,
            isCompressed: configuration.compression == .gzip)
        let attempts = segments.map(\.attempt)
        encoded.file.mayHaveArrived = attempts.contains { $0 != 0 }
        // A process that was killed while it noted the possible holder has noted it only in some of its segments.
        encoded.file.place = attempts.lazy.compactMap { PossibleHolder(word: $0) }.first
        // The interval's end is used as the time of the upload, which came soon after at the latest.
        try outbox.store(
            encoded.body, as: encoded.file, modified: encoded.file.mayHaveArrived ? interval.end : nil)
    }

    /// Returns the resource for a dead instance that left none: that of this service, without the id of this process.
    func resource(ofInstance instance: String) -> TelemetryResource {
        var resource = TelemetryResource(configuration, instance: instance)
        resource.processID = nil
        return resource
    }
}

/// A segment that a dead process left.
struct RecoveredSegment {
    let path: String
    let header: JournalHeader
    private let bytes: Data

    enum ReadResult {
        case segment(RecoveredSegment)
        case blank
        case damaged
    }

    /// Returns the segment of a file; `nil` if the file cannot be read now.
    static func read(_ path: String) -> ReadResult? {
        guard let bytes = FileManager.default.contents(atPath: path) else { return nil }
        return switch bytes.withUnsafeBytes({ JournalHeader.read($0) }) {
        case .header(let header): .segment(RecoveredSegment(path: path, header: header, bytes: bytes))
        case .blank: .blank
        case .damaged: .damaged
        }
    }

    /// The note of an attempt to send a batch of the segment's interval from memory; 0 if there was none.
    var attempt: UInt64 { bytes.withUnsafeBytes { JournalHeader.attempt($0) } }

    /// Nanoseconds for which capture was off since the dead instance's start.
    var captureGap: UInt64 { bytes.withUnsafeBytes { JournalHeader.captureGap($0) } }

    func count(into statistics: inout SeriesStatistics) {
        bytes.withUnsafeBytes { bytes in
            var reader = JournalReader(
                UnsafeRawBufferPointer(rebasing: bytes[JournalFormat.headerBytes...]), seed: header.seed)
            while let record = reader.next() { statistics.count(record) }
        }
    }

    func remove() { unlink(path) }
}
