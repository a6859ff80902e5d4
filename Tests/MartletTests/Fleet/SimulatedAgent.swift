import Foundation
import MartletTelemetry

@testable import Martlet

/// A model of an agent's uploads. The library's own types make the decisions.
struct SimulatedAgent {
    private let collectors: [URL]
    private let isJittered: Bool
    private var routes = UploadRoutes()
    private var pace: BacklogThrottle
    /// The number of waiting batches. The oldest may already have a possible holder.
    private(set) var waiting = 0
    private var oldest = SimulatedAgent.batch
    private var upload: (route: UploadRoute, start: UInt64, end: UploadEnd)?
    /// The time that was set for the next turn. Turns at other times are obsolete.
    private(set) var turn: UInt64 = .max

    /// - Parameters:
    ///   - pacing: the interval that determines the pauses; zero for none.
    ///   - isJittered: whether waits have a random part.
    init(_ number: Int, collectors: [URL], pacing: Duration, isJittered: Bool) {
        self.collectors = CollectorOrder.ranked(collectors, for: "\(number)")
        self.isJittered = isJittered
        pace = BacklogThrottle(interval: pacing)
    }

    var isBusy: Bool { upload != nil }

    /// Adds the batches of an interval: metrics and details.
    mutating func seal() { waiting += 2 }

    /// Begins a round.
    ///
    /// - Returns: the collector that gets the oldest batch. `nil` if nothing is sent now; ``turn`` is then the time of
    ///   the next attempt.
    mutating func begin(at now: UInt64) -> URL? {
        _ = routes.begin(over: UploadRoutes.all(to: collectors), at: now, isCallerWaiting: false)
        return next(at: now)
    }

    private mutating func next(at now: UInt64) -> URL? {
        turn = .max
        guard waiting > 0 else { return nil }
        if pace.notBefore > now {
            turn = pace.notBefore
            return nil
        }
        guard let route = routes.route(for: oldest, to: collectors, at: now) else {
            turn = max(now + 1, routes.nextAttempt(over: UploadRoutes.all(to: collectors)))
            return nil
        }
        upload = (route, now, .failed(mayHaveArrived: true, reason: ""))
        return route.address
    }

    mutating func await(_ end: UploadEnd) { upload?.end = end }

    /// Ends the current upload like `Delivery`, and continues like ``begin(at:)``.
    mutating func end(at now: UInt64, using random: inout Randomness) -> URL? {
        guard let (route, start, end) = upload else { return nil }
        upload = nil
        if case .answered(let answer) = end {
            pace.note(.nanoseconds(Int64(now - start)), at: now, random: random.next())
            routes.note(answer, over: route)
        }
        if case .retry(let time, let mayHaveArrived, _) = UploadOutcome(end, signal: .metrics) {
            if mayHaveArrived { oldest.place = routes.place(of: oldest, over: route, among: collectors) }
            routes.fail(route, time, at: now) { isJittered ? random.next() : 0.5 }
        } else {
            routes.succeed(route)
            waiting -= 1
            oldest = Self.batch
        }
        return next(at: now)
    }

    private static let batch = BatchFile(sequence: 1, signal: .metrics, requests: 1, isCompressed: true, body: [])
}

/// Random numbers that are the same in each run.
struct Randomness {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    /// Returns a number from 0 to 1 (SplitMix64).
    mutating func next() -> Double {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return Double((mixed ^ (mixed >> 31)) >> 11) / 0x1p53
    }
}
