import Fixtures
import Foundation
import MartletTelemetry
import Testing

@testable import Martlet

/// A recorder with a journal whose segments are in a separate folder.
final class JournalFixture {
    let folder: TemporaryFolder
    let recorder: Recorder
    let keeper: JournalKeeper

    init(_ change: (inout MartletConfiguration) -> Void = { _ in }) throws {
        folder = try TemporaryFolder()
        var configuration = MartletConfiguration()
        configuration.bufferMax = 1 << 20
        change(&configuration)
        recorder = Recorder(configuration)
        keeper = JournalKeeper(recorder.journal)
        keeper.move(to: folder.url)
    }

    /// Ends the interval and counts it, as the agent's thread does.
    func endInterval() throws -> RecordedInterval {
        #expect(close())
        while true {
            guard let lanes = keeper.closedLanes() else { continue }
            for lane in lanes { recorder.fold(lane) }
            break
        }
        let interval = recorder.drain().interval
        keeper.recycle()
        return interval
    }

    func close() -> Bool { recorder.closeSegments { keeper.close() } }

    @discardableResult func prepareNextSegment() -> Bool { keeper.prepareNextSegment() }

    func finish() { for memory in keeper.closeForGood().empty { memory.remove() } }

    /// Returns the files of the journal, as a killed process would leave them.
    func segmentFiles() throws -> [(name: String, bytes: [UInt8])] {
        try FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted().map { name in
            (name, try [UInt8](Data(contentsOf: folder.url.appendingPathComponent(name))))
        }
    }
}

/// Reads a segment. Returns its header, and the statistics of its requests.
func recordsRead(_ bytes: [UInt8]) -> (header: JournalHeader.ReadResult, statistics: SeriesStatistics) {
    var statistics = SeriesStatistics(MartletConfiguration(), start: 1)
    let read = bytes.withUnsafeBytes { bytes in
        let read = JournalHeader.read(bytes)
        if case .header(let header) = read {
            var reader = JournalReader(
                UnsafeRawBufferPointer(rebasing: bytes[JournalFormat.headerBytes...]), seed: header.seed)
            while let record = reader.next() { statistics.count(record) }
        }
        return read
    }
    return (read, statistics)
}

extension RecordedInterval {
    var requests: UInt64 { series.values.reduce(0) { $0 + $1.duration.count } }
}
