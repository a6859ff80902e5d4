import ArgumentParser
import Foundation
import FoundationNetworking
import Martlet

/// Inside a worker. It is the same program in every mode but for the start of the agent.
struct Work: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Makes a round of requests for each line it reads.", shouldDisplay: false)

    @Option var mode: Mode
    @Option var server: String

    func run() async throws {
        let agent = mode == .agent ? MartletAgent.start() : nil
        let session = URLSession(configuration: .default)
        // One endpoint, many URLs: naming it is part of the agent's work.
        let urls = (0..<100).compactMap { URL(string: "\(server)/users/\(4000 + $0)/orders") }
        var cpuBefore = Clock.processCPU()
        while let line = readLine() {
            let load = try JSONDecoder().decode(Load.self, from: Data(line.utf8))
            let latencies = try await session.time(load, urls: urls).sorted()
            // Since the last answer rather than since the start of the round: what the agent did in between, while
            // others had their turn, counts as well.
            let cpu = Clock.processCPU()
            let round = Round(
                cpu: Double(cpu - cpuBefore) / 1e3 / Double(load.requests),
                p50: Double(latencies[latencies.count / 2]) / 1e6,
                p99: Double(latencies[latencies.count * 99 / 100]) / 1e6)
            cpuBefore = cpu
            try FileHandle.standardOutput.write(contentsOf: Line.encode(round))
        }
        await agent?.shutdown()
        let ledger = agent?.status.ledger
        let account = Account(captured: Int(ledger?.captured ?? 0), delivered: Int(ledger?.delivered ?? 0))
        try FileHandle.standardOutput.write(contentsOf: Line.encode(account))
    }
}

extension Mode: ExpressibleByArgument {}

extension URLSession {
    /// The latencies of all requests in nanoseconds, as their callers see them.
    fileprivate func time(_ load: Load, urls: [URL]) async throws -> [UInt64] {
        try await withThrowingTaskGroup(of: [UInt64].self) { group in
            for caller in 0..<load.concurrency {
                group.addTask {
                    var latencies: [UInt64] = []
                    for number in stride(from: caller, to: load.requests, by: load.concurrency) {
                        let start = Clock.monotonic()
                        let (data, response) = try await self.data(from: urls[number % urls.count])
                        latencies.append(Clock.monotonic() - start)
                        guard (response as? HTTPURLResponse)?.statusCode == 200, data.count == 2 else {
                            throw Failure("The server answered something else: \(response)")
                        }
                    }
                    return latencies
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
    }
}

private enum Clock {
    static func monotonic() -> UInt64 { read(CLOCK_MONOTONIC) }

    /// User and system time of all threads, those that ended included.
    static func processCPU() -> UInt64 { read(CLOCK_PROCESS_CPUTIME_ID) }

    private static func read(_ clock: clockid_t) -> UInt64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}
