import Foundation
import FoundationNetworking
import Martlet

/// Makes rounds of requests.
struct Bench {
    let agent: MartletAgent
    let session: URLSession
    let urls: [URL]

    /// Makes one round. Its CPU time includes all threads of the process, so the agent's work counts in the round in which it
    /// happens.
    func round(_ load: Load, isCapturing: Bool) async throws -> Round {
        agent.isCapturing = isCapturing
        let before = Clock.processCPU()
        let latencies = try await time(load).sorted()
        let cpu = Clock.processCPU() - before
        return Round(
            cpu: Double(cpu) / 1e3 / Double(load.requests),
            p50: Double(latencies[latencies.count / 2]) / 1e6, p99: Double(latencies[latencies.count * 99 / 100]) / 1e6)
    }

    /// Returns the latencies of all requests in nanoseconds, as their callers see them.
    private func time(_ load: Load) async throws -> [UInt64] {
        try await withThrowingTaskGroup(of: [UInt64].self) { group in
            for caller in 0..<load.concurrency {
                group.addTask {
                    var latencies: [UInt64] = []
                    for number in stride(from: caller, to: load.requests, by: load.concurrency) {
                        let start = Clock.monotonic()
                        let (data, response) = try await session.data(from: urls[number % urls.count])
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

/// The figures of one round.
struct Round {
    /// Microseconds of CPU per request, of all threads, in user and kernel.
    var cpu: Double
    /// Median latency in milliseconds.
    var p50: Double
    /// Latency at 99 % in milliseconds.
    var p99: Double
}

private enum Clock {
    static func monotonic() -> UInt64 { read(CLOCK_MONOTONIC) }

    /// User and system time of all threads in nanoseconds, including threads that have ended.
    static func processCPU() -> UInt64 { read(CLOCK_PROCESS_CPUTIME_ID) }

    private static func read(_ clock: clockid_t) -> UInt64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}
