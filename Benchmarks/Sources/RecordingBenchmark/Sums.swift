import Foundation

@testable import Martlet
@testable import MartletOTLP
@testable import MartletTelemetry

/// The cost of cumulative streams: the agent turns each batch of deltas into sums, and keeps the sums on disk.
enum Sums {
    private static let batches: UInt64 = 40
    private static let requests = 20

    static func measure(in folder: URL) throws {
        print("\ncumulative streams, for each batch, of which every series has \(requests) requests; medians:")
        for series in [10, 100, 500] { try measure(series, in: folder.appendingPathComponent("\(series)")) }
    }

    private static func measure(_ series: Int, in folder: URL) throws {
        let outbox = try Outbox.create(instance: "instance", in: folder)
        var sums: CumulativeSums?
        var (conversions, keeps, waits) = ([Double](), [Double](), [Double]())
        var (delta, cumulative) = (0, 0)
        for sequence in 1...batches {
            let batch = try Gzip.compress(batch(sequence, series).otlp())
            let id = BatchID(instance: "instance", sequence: sequence, signal: .metrics)
            let start = Clock.threadCPU()
            let plain = try Gzip.decompress(batch, limit: MartletLimits.plainBodyBytes)
            let (upload, new) = try CumulativeSums.adding(plain, of: id, to: sums)
            let sent = try Gzip.compress(upload)
            let (converted, began) = (Clock.threadCPU(), Clock.monotonic())
            outbox.keep(new)
            keeps.append(Double(Clock.threadCPU() - converted) / 1e6)
            waits.append(Double(Clock.monotonic() - began) / 1e6)
            conversions.append(Double(converted - start) / 1e6)
            (delta, cumulative, sums) = (batch.count, sent.count, new)
        }
        outbox.close()
        print(
            String(
                format: "%4d series: convert %.2f ms of CPU, keep %.2f ms of CPU and %.2f ms in all; "
                    + "upload %.1f KB, as delta %.1f KB; sums %.1f KB",
                series, median(conversions), median(keeps), median(waits), Double(cumulative) / 1000,
                Double(delta) / 1000, Double(sums?.size ?? 0) / 1000))
    }

    /// Returns an interval's batch, with durations around 20 ms.
    private static func batch(_ sequence: UInt64, _ series: Int) -> MetricsBatch {
        var (all, sizes) = ([RequestDimensions: RequestStatistics](), [RequestDimensions: BodySizes]())
        for number in 0..<series {
            let dimensions = RequestDimensions(
                kind: .client, method: "GET", host: "api.example.com", port: 443, endpoint: "/orders-\(number)/{id}",
                status: 200, error: nil)
            var (statistics, phases, bodies) = (RequestStatistics(), PhaseDurations(), BodySizes())
            for _ in 0..<requests {
                let seconds = exp(Double.random(in: -1...1)) / 50
                phases[.firstByte] = UInt64(seconds * 8e8)
                statistics.record(seconds: seconds, bytesSent: 312, bytesReceived: 2048, phases: phases)
                bodies.record(sent: 312, received: .random(in: 500...5000))
            }
            all[dimensions] = statistics
            sizes[dimensions] = bodies
        }
        return MetricsBatch(
            resource: TelemetryResource(service: "shop", instance: "instance"), start: sequence * 10_000_000_000,
            end: (sequence + 1) * 10_000_000_000, series: all, sizes: sizes, instanceStart: 1, ledger: Ledger())
    }

    private static func median(_ figures: [Double]) -> Double { figures.sorted()[figures.count / 2] }
}
