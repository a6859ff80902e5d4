import Foundation
import Martlet
import Synchronization

/// A stopwatch that measures each request and prints all times, so that a test can compute exact quantiles.
final class Stopwatch: Sendable {
    private let times = Mutex<[String: [Double]]>([:])

    func run(_ maker: RequestMaker, times count: Int, concurrency: Int) async {
        await withTaskGroup(of: Void.self) { group in
            for worker in 0..<concurrency {
                group.addTask {
                    for number in stride(from: worker, to: count, by: concurrency) {
                        await self.time(maker, number: number)
                    }
                }
            }
        }
    }

    func report(ledger: MartletStatus.Ledger, _ burden: Burden?) throws {
        struct Report: Encodable {
            let captured: UInt64
            let delivered: UInt64
            let waiting: UInt64
            let milliseconds: [String: [Double]]
            let burden: Burden?
        }
        let report = Report(
            captured: ledger.captured, delivered: ledger.delivered, waiting: ledger.waiting,
            milliseconds: times.withLock { $0 }, burden: burden)
        print(String(decoding: try JSONEncoder().encode(report), as: UTF8.self))
    }

    private func time(_ maker: RequestMaker, number: Int) async {
        let start = ContinuousClock.now
        let milliseconds = (await maker.make(number) - start) / .milliseconds(1)
        times.withLock { $0[maker.endpoint, default: []].append(milliseconds) }
    }
}
