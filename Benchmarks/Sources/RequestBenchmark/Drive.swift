import ArgumentParser
import Foundation

@main
struct RequestBenchmark: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "What a URLSession request costs with and without the agent.",
        subcommands: [Drive.self, Work.self])
}

/// Lets two workers take turns, round by round, and compares each round with its neighbour: both met the same machine,
/// so that the ratio holds where the absolute figures drift.
struct Drive: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Runs the workers and prints the comparison.")

    @Option(help: "A server that answers every GET.")
    var server: String

    @Option(help: "Pairs of rounds of each sitting.")
    var rounds = 10

    /// Two processes with the same code differ by where their memory happens to lie, for as long as they live.
    @Option(help: "How often the workers are started anew.")
    var sittings = 4

    private static let loads = [Load(concurrency: 1, requests: 500), Load(concurrency: 16, requests: 1500)]

    mutating func run() throws {
        var comparisons = Self.loads.flatMap { load in
            [Mode.bare, .agent].map { Comparison(load: load, mode: $0) }
        }
        for _ in 0..<sittings {
            for index in comparisons.indices {
                comparisons[index].pairs += try sit(comparisons[index])
            }
        }
        print(Comparison.table(comparisons))
    }

    /// One pair of processes. Who comes first alternates (AB BA), so that a steady drift cancels out.
    private func sit(_ comparison: Comparison) throws -> [Pair] {
        let bare = try Worker(.bare, server: server)
        let other = try Worker(comparison.mode, server: server)
        let load = comparison.load
        _ = try (bare.run(load), other.run(load))  // Connections, caches and lazy globals are made here.
        let pairs = try (0..<rounds).map { round in
            guard round.isMultiple(of: 2) else {
                let second = try other.run(load)
                return Pair(bare: try bare.run(load), other: second)
            }
            return Pair(bare: try bare.run(load), other: try other.run(load))
        }
        try bare.end()
        try other.end()
        return pairs
    }
}
