import Foundation
import MartletTelemetry

/// The state of the routes to collectors: the waits after failures, the stores behind them, and the routes of the round under
/// way.
struct UploadRoutes {
    private var circuits: [UploadRoute: UploadCircuit] = [:]
    private var stores = CollectorStores()
    /// Routes over which nothing is sent in this round.
    private var held: Set<UploadRoute> = []
    /// Held routes that a batch of this round waits for.
    private(set) var waiting: Set<UploadRoute> = []

    static func all(to collectors: [URL]) -> [UploadRoute] {
        collectors.flatMap { collector in Signal.allCases.map { UploadRoute(address: collector, signal: $0) } }
    }

    /// Begins a round, unless it would have nothing to send.
    ///
    /// - Parameters:
    ///   - own: the routes that a round is for.
    ///   - isCallerWaiting: whether these are tried ahead of time for a caller.
    /// - Returns: `false` if all of them are held.
    mutating func begin(over own: [UploadRoute], at now: UInt64, isCallerWaiting: Bool) -> Bool {
        held = Set(
            circuits.filter { !$0.value.allows(at: now, isCallerWaiting: isCallerWaiting && own.contains($0.key)) }
                .map(\.key))
        if areHeld(own) { return false }
        waiting = []
        return true
    }

    /// Returns the route for a batch; `nil` if all that it may take are held, and then it waits for them. The first collector
    /// of the list is preferred. One that failed is asked again when its wait is over, and as long as another one takes
    /// batches only after some random minutes.
    mutating func route(for file: BatchFile, to collectors: [URL], at now: UInt64) -> UploadRoute? {
        let routes = stores.collectors(of: collectors, for: file.place).map {
            UploadRoute(address: $0, signal: file.signal)
        }
        let best = routes.filter { !held.contains($0) }.min {
            reluctance(of: $0, at: now) < reluctance(of: $1, at: now)
        }
        if best == nil { waiting.formUnion(routes) }
        return best
    }

    private func reluctance(of route: UploadRoute, at now: UInt64) -> Int {
        guard let circuit = circuits[route] else { return 0 }
        if !circuit.allows(at: now, isCallerWaiting: false) { return 2 }
        return circuit.mayReturn(at: now) ? 0 : 1
    }

    /// Returns the place to note ahead of an upload.
    func place(of file: BatchFile, over route: UploadRoute, among collectors: [URL]) -> UploadPlace {
        stores.place(after: file.place, sendingTo: route.address, of: collectors)
    }

    mutating func note(_ answer: UploadAnswer, over route: UploadRoute) { stores.note(answer, of: route.address) }

    mutating func succeed(_ route: UploadRoute) { circuits[route] = nil }

    /// Holds routes after a failure: that of one signal if a wrong path or token may concern it alone, else all to the
    /// collector.
    mutating func fail(
        _ route: UploadRoute, _ time: RetryWait, at now: UInt64, random: () -> Double = { .random(in: 0...1) }
    ) {
        // Both signals wait for the same time: the oldest batch goes first again.
        let (wait, away) = (random(), random())
        for signal in time == .longest ? [route.signal] : Signal.allCases {
            let failed = UploadRoute(address: route.address, signal: signal)
            circuits[failed, default: UploadCircuit()].fail(time, at: now, wait: wait, away: away)
            held.insert(failed)
        }
        waiting.insert(route)
    }

    /// Delays routes, and lets a batch wait for them.
    mutating func wait(for routes: [UploadRoute], until time: UInt64) {
        for route in routes { circuits[route] = UploadCircuit(notBefore: time) }
        waiting = Set(routes)
    }

    /// Whether nothing is sent over any of these routes in this round.
    func areHeld(_ routes: [UploadRoute]) -> Bool { held.isSuperset(of: routes) }

    /// The time when a batch that waits for one of these routes may be sent, in nanoseconds of the monotonic clock; `.max`
    /// while none does.
    func nextAttempt(over routes: [UploadRoute]) -> UInt64 {
        routes.filter(waiting.contains).compactMap { circuits[$0]?.notBefore }.min() ?? .max
    }
}
