import Foundation
import MartletOTLP
import MartletTelemetry

/// Makes batches of what a dead instance recorded and did not seal, under its own identity.
struct JournalRecovery {
    private let configuration: MartletConfiguration

    init(_ configuration: MartletConfiguration) {
        self.configuration = configuration
    }

    /// What cannot be read or stored now stays where it is, for the next time.
    func recover(_ outbox: inout Outbox) {
        guard let sealed = outbox.sealed, let found = segments(in: outbox) else { return }
        for (sequence, segments) in found.sorted(by: { $0.key < $1.key }) {
            do {
                if sequence > sealed { try seal(segments, sequence, in: &outbox) }
                for segment in segments { segment.remove() }
            } catch {
                return
            }
        }
    }

    /// By the sequence of their interval. Those that nothing was begun in are removed, damaged ones put aside. `nil` where
    /// one cannot be read now: without it, its interval would be sealed for good.
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
        // Not its own: what others call an endpoint is theirs to say.
        if let templates = owner?.endpoints { configuration.endpoints = templates }
        var statistics = SeriesStatistics(configuration, start: segments.map(\.header.start).min() ?? Clock.wall())
        for segment in segments { segment.count(into: &statistics) }
        let interval = statistics.take(at: nil)
        guard !interval.series.isEmpty else { return }
        var batch = MetricsBatch(
            resource: owner?.resource ?? TelemetryResource(configuration, instance: outbox.instance),
            start: interval.start, end: interval.end, series: interval.series, instanceStart: interval.start,
            ledger: Ledger(), unwatched: segments.map(\.unwatched).max() ?? 0)
        batch.ledger = outbox.ledger(unsealed: batch.requests)
        let isCompressed = configuration.compression == .gzip
        let bytes = try batch.otlp()
        let body = isCompressed ? try Gzip.compress(bytes) : bytes
        var file = BatchFile(
            sequence: sequence, signal: .metrics, requests: batch.requests, isCompressed: isCompressed, body: body)
        file.isSent = segments.contains(where: \.isSent)
        // At the latest it was sent soon after.
        try outbox.store(body, as: file, modified: file.isSent ? interval.end : nil)
    }
}

/// A segment that a dead process left.
struct RecoveredSegment {
    let path: String
    let header: JournalHeader
    private let bytes: Data

    enum Reading {
        case segment(RecoveredSegment)
        case blank
        case damaged
    }

    /// `nil` where it cannot be read now.
    static func read(_ path: String) -> Reading? {
        guard let bytes = FileManager.default.contents(atPath: path) else { return nil }
        return switch bytes.withUnsafeBytes({ JournalHeader.read($0) }) {
        case .header(let header): .segment(RecoveredSegment(path: path, header: header, bytes: bytes))
        case .blank: .blank
        case .damaged: .damaged
        }
    }

    /// A batch of its interval was sent from memory, and may have arrived.
    var isSent: Bool { bytes.withUnsafeBytes { JournalHeader.isSent($0) } }

    /// Nanoseconds without capture, since the dead instance's start.
    var unwatched: UInt64 { bytes.withUnsafeBytes { JournalHeader.unwatched($0) } }

    func count(into statistics: inout SeriesStatistics) {
        bytes.withUnsafeBytes { bytes in
            var reader = JournalReader(
                UnsafeRawBufferPointer(rebasing: bytes[JournalFormat.headerBytes...]), seed: header.seed)
            while let record = reader.next() { statistics.count(record) }
        }
    }

    func remove() { unlink(path) }
}
