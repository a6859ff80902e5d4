import Foundation

@testable import Martlet
@testable import MartletTelemetry

/// The time that recovery takes to turn the journals of 64 killed processes into batches, and the size of these batches.
enum Recovery {
    private static let instances = 64
    private static let endpoints = 50

    static func measure(in folder: URL) throws {
        var requests = 0
        for instance in 0..<instances { requests += try leave("instance-\(instance)", in: folder) }
        let journals = try bytes(in: folder, of: JournalFormat.fileSuffix)
        let start = Clock.monotonic()
        for instance in BufferDirectory.instances(in: folder) {
            guard var outbox = Outbox.adopt(instance: instance, in: folder) else { continue }
            JournalRecovery(MartletConfiguration()).recover(&outbox)
        }
        let seconds = Double(Clock.monotonic() - start) / 1e9
        let batches = try bytes(in: folder, of: ".otlp.gz")
        print(
            String(
                format: "\nrecovered %.1f MiB of journals, %d requests, in %.2f s", Double(journals) / 1_048_576,
                requests, seconds))
        print(
            String(
                format: "per 1,000 requests: %.0f KB of journal; as batches of %d endpoints, %d requests, %.2f KB",
                Double(journals) / Double(requests), endpoints, requests / instances,
                Double(batches) / Double(requests)))
    }

    /// Leaves the journal of a process that filled its first two segments and was killed. Returns the number of its requests.
    private static func leave(_ instance: String, in folder: URL) throws -> Int {
        let outbox = try Outbox.create(instance: instance, in: folder)
        let recorder = Recorder(MartletConfiguration())
        let keeper = JournalKeeper(recorder.journal)
        keeper.move(to: outbox.directory)
        var written = 0
        while true {
            let path = "http://api.example.com:8080/endpoint-\(written % endpoints)/orders"
            guard let url = URL(string: path) else { return written }
            var request = CapturedRequest(
                method: "GET", destination: .url(url), status: 200, start: Clock.wall(),
                durationNanoseconds: UInt64.random(in: 1_000_000...50_000_000))
            request.phases[.firstByte] = 1_000_000
            guard recorder.journal.append(request) else { return written }
            written += 1
        }
    }

    private static func bytes(in folder: URL, of suffix: String) throws -> Int {
        try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(suffix) }.reduce(0) {
            let attributes = try FileManager.default.attributesOfItem(atPath: "\(folder.path)/\($1)")
            return $0 + (attributes[.size] as? Int ?? 0)
        }
    }
}
