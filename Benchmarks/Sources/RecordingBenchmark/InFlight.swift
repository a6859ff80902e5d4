import Foundation
import FoundationNetworking
import Synchronization

@testable import Martlet

/// Measures how long `resume()` waits for the table of requests in flight, with and without another thread that walks through
/// 50,000 of them. `status` and the search for hung requests do such walks.
enum InFlight {
    private static let tasks = 50_000
    private static let walks = 100

    static func measure() throws {
        guard let url = URL(string: "http://127.0.0.1:1/") else { return }
        let tasks = (0..<tasks).map { _ in URLSession.shared.dataTask(with: url) }
        for task in tasks {
            _ = InFlightRequests.resume(task)
            InFlightRequests.observation(of: task).load(URLRequest(url: url), from: url, sampler: TraceSampler(rate: 0))
        }
        defer { for task in tasks { InFlightRequests.remove(task) } }
        let one = URLSession.shared.dataTask(with: url)
        let quiet = waits(of: one) { while $0() < 100_000 { sched_yield() } }
        let walked = waits(of: one) { _ in
            for _ in 0..<walks {
                _ = InFlightRequests.summary(in: nil)
                _ = InFlightRequests.hung(after: .seconds(300))
                _ = InFlightRequests.endedSilently
            }
        }
        print("resume() with \(tasks.count) in flight, nobody walks: \(text(of: quiet))")
        print("resume() with \(tasks.count) in flight, all walked:   \(text(of: walked))")
    }

    /// Returns the nanoseconds that each `resume()` took on a separate thread while `body` ran, in ascending order. `body` gets
    /// the number of calls so far.
    private static func waits(of task: URLSessionTask, while body: (_ count: () -> Int) -> Void) -> [UInt64] {
        let isDone = Atomic<Bool>(false)
        let all = Mutex<[UInt64]>([])
        let ended = DispatchSemaphore(value: 0)
        let count = Atomic<Int>(0)
        let thread = Thread {
            var taken: [UInt64] = []
            while !isDone.load(ordering: .relaxed) {
                let start = Clock.monotonic()
                _ = InFlightRequests.resume(task)
                taken.append(Clock.monotonic() &- start)
                InFlightRequests.remove(task)
                count.wrappingAdd(1, ordering: .relaxed)
            }
            all.withLock { $0 = taken.sorted() }
            ended.signal()
        }
        thread.start()
        body { count.load(ordering: .relaxed) }
        isDone.store(true, ordering: .relaxed)
        ended.wait()
        return all.withLock { $0 }
    }

    private static func text(of waits: [UInt64]) -> String {
        func quantile(_ share: Double) -> Double {
            waits.isEmpty ? 0 : Double(waits[Int(Double(waits.count - 1) * share)]) / 1000
        }
        return String(
            format: "median %.2f µs, 99.9 %% %.1f µs, 99.99 %% %.1f µs, longest %.1f µs", quantile(0.5),
            quantile(0.999),
            quantile(0.9999), quantile(1))
    }
}
