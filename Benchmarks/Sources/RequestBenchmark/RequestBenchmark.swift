import ArgumentParser
import Foundation
import FoundationNetworking
import Martlet

/// Makes the same requests with capture off and on in turns, in short rounds of one process, and compares each round with its
/// neighbour. Both ran on the same machine in the same memory, so their ratio holds even when the absolute figures drift.
@main
struct RequestBenchmark: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Measures the cost that the agent adds to a URLSession request.")

    @Option(help: "A server that answers every GET with two bytes.")
    var server: String

    @Option(help: "Pairs of rounds of each comparison.")
    var pairs = 200

    private static let loads = [Load(concurrency: 1, requests: 250), Load(concurrency: 16, requests: 600)]

    func run() async throws {
        let agent = MartletAgent.start()
        guard agent.status.captureMode == .automatic else { throw Failure("Capture is \(agent.status.captureMode).") }
        // The URLs differ but have one endpoint, because naming the endpoint is part of the agent's work.
        let urls = (0..<100).compactMap { URL(string: "\(server)/users/\(4000 + $0)/orders") }
        let bench = Bench(agent: agent, session: URLSession(configuration: .default), urls: urls)
        var comparisons: [Comparison] = []
        for load in Self.loads {
            _ = try await (bench.round(load, isCapturing: true), bench.round(load, isCapturing: false))
            for isCapturing in [false, true] {
                comparisons.append(try await compare(load, isCapturing: isCapturing, in: bench))
            }
        }
        await agent.shutdown()
        let status = agent.status
        print(Comparison.table(comparisons))
        let own = Double(status.cpuTime / .nanoseconds(1)) / 1e3 / Double(status.ledger.captured)
        print("\nThe agent's own account of its CPU time: \(String(format: "%.2f", own)) µs a request")
        try check(status.ledger)
    }

    /// Runs all pairs of a comparison. The order within a pair alternates (AB BA), so that a steady drift cancels out.
    private func compare(_ load: Load, isCapturing: Bool, in bench: Bench) async throws -> Comparison {
        var comparison = Comparison(load: load, isCapturing: isCapturing)
        for number in 0..<pairs {
            if number.isMultiple(of: 2) {
                let off = try await bench.round(load, isCapturing: false)
                comparison.pairs.append(Pair(off: off, other: try await bench.round(load, isCapturing: isCapturing)))
            } else {
                let other = try await bench.round(load, isCapturing: isCapturing)
                comparison.pairs.append(Pair(off: try await bench.round(load, isCapturing: false), other: other))
            }
        }
        return comparison
    }

    /// Throws unless the agent captured and delivered every request. Otherwise the figures would miss some of the agent's work.
    private func check(_ ledger: MartletStatus.Ledger) throws {
        let expected = Self.loads.reduce(0) { $0 + $1.requests * (pairs + 1) }
        guard ledger.captured == expected, ledger.delivered == expected else {
            throw Failure("The agent captured \(ledger.captured) and delivered \(ledger.delivered) of \(expected).")
        }
    }
}

struct Load {
    var concurrency: Int
    var requests: Int
}

struct Failure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
