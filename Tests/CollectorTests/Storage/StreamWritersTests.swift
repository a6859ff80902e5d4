import Fixtures
import MartletStorage
import MartletTelemetry
import Testing

/// Simulated processes that share a stream, against the requests that they served.
@Suite struct StreamWritersTests {
    struct Fleet: Sendable, CustomTestStringConvertible {
        let writers: Int
        /// The most seconds between two writers' exports of a round, and from an export to its arrival.
        let spread: Double
        let delay: Double
        /// The part of exports that arrive late, and again.
        var late = 0.0
        /// The part of exports after which a new process takes the writer's place.
        var replaced = 0.0
        /// The part of the requests that may be missing or too many.
        let error: Double

        var testDescription: String {
            "\(writers) writers within \(spread) s, delayed \(delay) s, \(late) late, \(replaced) replaced"
        }
    }

    static let fleets = [2, 3, 4, 6, 8].flatMap { writers in
        [
            Fleet(writers: writers, spread: 60, delay: 0, error: 0.02),
            Fleet(writers: writers, spread: 0.01, delay: 5, error: 0.03),
            Fleet(writers: writers, spread: 60, delay: 1, late: 0.05, error: 0.03),
            Fleet(writers: writers, spread: 60, delay: 1, replaced: 0.02, error: 0.08),
        ]
    }

    private struct Export {
        let arrival: Double
        let point: CumulativePoint
    }

    private static func point(_ duration: ExponentialHistogram, end: Double) -> CumulativePoint {
        CumulativePoint(
            stream: StreamID(hashing: [[1]]),
            point: RequestPoint(
                dimensions: Samples.dimensions(), start: Samples.time(0), end: Samples.time(1) + UInt64(end * 1e9),
                statistics: RequestStatistics(duration: duration)))
    }

    /// Returns the exports of a fleet over forty minutes in the order of their arrival, and the number of requests.
    private static func exports(of fleet: Fleet, _ random: inout SeededGenerator) -> (
        exports: [Export], requests: UInt64
    ) {
        var exports: [Export] = []
        let offsets = (0..<fleet.writers).map { _ in Double.random(in: 0...fleet.spread, using: &random) }
        let rates = (0..<fleet.writers).map { _ in [1, 3, 10, 30].randomElement(using: &random) ?? 1 }
        var (writers, ended) = (Array(repeating: ExponentialHistogram(), count: fleet.writers), UInt64(0))
        for round in 0..<40 {
            for index in writers.indices {
                if Double.random(in: 0..<1, using: &random) < fleet.replaced {
                    ended += writers[index].count
                    writers[index] = ExponentialHistogram()
                }
                for _ in 0..<Int.random(in: 1...2 * rates[index], using: &random) {
                    writers[index].record(0.01 / Double.random(in: 0.01..<1, using: &random))
                }
                let end = Double(round) * 60 + offsets[index] + Double.random(in: 0...0.01, using: &random)
                let export = Export(
                    arrival: end + Double.random(in: 0...max(fleet.delay, 1e-6), using: &random),
                    point: point(writers[index], end: end))
                exports.append(export)
                guard round < 36, Double.random(in: 0..<1, using: &random) < fleet.late else { continue }
                exports.append(
                    Export(arrival: export.arrival + Double.random(in: 0...150, using: &random), point: export.point))
                exports[exports.count - 2] = Export(arrival: export.arrival + 70, point: export.point)
            }
        }
        return (exports.sorted { $0.arrival < $1.arrival }, writers.reduce(ended) { $0 + $1.count })
    }

    @Test(arguments: fleets)
    func requestsOfProcessesThatShareAStreamCountOnce(fleet: Fleet) {
        for seed in 1...5 as ClosedRange<UInt64> {
            var random = SeededGenerator(seed: seed)
            let (exports, requests) = Self.exports(of: fleet, &random)
            var (streams, counted) = ([CumulativeDifferences.Stream: StreamWriters](), UInt64(0))
            // The collector restarts after each export.
            for export in exports {
                var differences = CumulativeDifferences(
                    since: streams, damaged: [], CumulativeHistory(), firstIntervalAtMost: .max)
                differences.add([export.point])
                counted += differences.points.reduce(0) { $0 + $1.statistics.requests }
                streams = differences.streams
            }
            #expect(
                abs(Double(counted) / Double(requests) - 1) <= fleet.error, "seed \(seed): \(counted) of \(requests)")
            #expect(streams.values.allSatisfy { $0.isShared && $0.latest.count <= StreamWriters.limit })
        }
    }

    @Test func writersPastTheLimitAreNotFollowed() {
        var random = SeededGenerator(seed: 1)
        let fleet = Fleet(writers: 3 * StreamWriters.limit, spread: 60, delay: 0, error: 0)
        let (exports, requests) = Self.exports(of: fleet, &random)
        var differences = CumulativeDifferences(
            since: [:], damaged: [], CumulativeHistory(), firstIntervalAtMost: .max)
        for export in exports { differences.add([export.point]) }
        let counted = differences.points.reduce(0) { $0 + $1.statistics.requests }
        #expect(counted > 0 && Double(counted) < 1.05 * Double(requests))
        #expect(differences.streams.values.allSatisfy { $0.latest.count == StreamWriters.limit })
    }
}
