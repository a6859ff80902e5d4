import ArgumentParser
import Foundation
import MartletOTLP

/// Makes bodies to post to a collector, for `ingest.lua`: one per sender and interval of 10 s, in order of time.
struct BodiesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "bodies", abstract: "Makes gzip bodies of metrics.")

    @Argument(help: "The folder for the files 0.gz, 1.gz, …")
    var folder: String

    @Option(help: "Points of a body.") var points = 50
    @Option(help: "Senders.") var senders = 8
    @Option(help: "Bodies of each sender.") var intervals = 250
    @Flag(help: "Sizes of bodies too, as agents send them: three points on the wire for each.") var sizes = false

    func run() throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let start = UInt64(Date().timeIntervalSince1970) / 60 * 60 - UInt64(10 * intervals)
        let batches = (0..<senders).map { SyntheticBatch(sender: $0, points: points, hasSizes: sizes) }
        for interval in 0..<intervals {
            for (sender, batch) in batches.enumerated() {
                let end = (start + UInt64(10 * (interval + 1))) * 1_000_000_000
                let body = try Gzip.compress(batch.batch(end: end).otlp())
                let file = "\(folder)/\(interval * senders + sender).gz"
                try Data(body).write(to: URL(fileURLWithPath: file))
            }
        }
    }
}
