import Foundation
import MartletTelemetry
import Testing

@testable import Martlet

/// The choice of a collector for a batch.
@Suite struct UploadRoutesTests {
    private let first = Self.url("http://a:4318")
    private let second = Self.url("http://b:4318")
    private var both: [URL] { [first, second] }

    private static func url(_ text: String) -> URL { URL(string: text) ?? URL(fileURLWithPath: "/") }

    private static func file(_ signal: Signal = .metrics, at place: PossibleHolder? = nil) -> BatchFile {
        var file = BatchFile(sequence: 1, signal: signal, requests: 1, isCompressed: false, body: [])
        (file.mayHaveArrived, file.place) = (place != nil, place)
        return file
    }

    private func route(_ collector: URL, _ signal: Signal = .metrics) -> UploadRoute {
        UploadRoute(address: collector, signal: signal)
    }

    private static func answer(_ status: Int = 200, store: String?) -> UploadAnswer {
        UploadAnswer(status: status, store: store.flatMap { ShortDigest(store: $0) })
    }

    /// Returns routes to collectors whose stores are known.
    private func routes(stores: [URL: String]) -> UploadRoutes {
        var routes = UploadRoutes()
        for (collector, store) in stores { routes.note(Self.answer(store: store), over: route(collector)) }
        return routes
    }

    private func collector(_ routes: inout UploadRoutes, at now: UInt64, isCallerWaiting: Bool = false) -> URL? {
        _ = routes.begin(over: UploadRoutes.all(to: both), at: now, isCallerWaiting: isCallerWaiting)
        return routes.route(for: Self.file(), to: both, at: now)?.address
    }

    private static let minute: UInt64 = 60_000_000_000

    @Test func batchesGoToAnotherCollectorDuringAFailureAndReturnAfterSomeMinutes() {
        var routes = UploadRoutes()
        #expect(collector(&routes, at: 0) == first)
        routes.fail(route(first), .backOff, at: 0) { 0.5 }
        // In the same round, and after the wait of a second.
        #expect(routes.route(for: Self.file(), to: both, at: 0) == route(second))
        #expect(routes.route(for: Self.file(.traces), to: both, at: 0) == route(second, .traces))
        #expect(collector(&routes, at: Self.minute) == second)
        #expect(collector(&routes, at: 5 * Self.minute) == second)
        #expect(collector(&routes, at: 6 * Self.minute) == first)
    }

    @Test func agentsReturnToAPreferredCollectorAtDifferentTimes() {
        var times: Set<UInt64> = []
        for random in [0.0, 0.25, 1] {
            var routes = UploadRoutes()
            routes.fail(route(first), .backOff, at: 0) { random }
            times.insert((0...20).map { $0 * Self.minute / 2 }.first { collector(&routes, at: $0) == first } ?? 0)
        }
        #expect(times == [Self.minute, Self.minute * 7 / 2, 10 * Self.minute])
    }

    @Test func ifAllCollectorsFailEachIsTriedAfterItsOwnWait() {
        var routes = UploadRoutes()
        routes.fail(route(first), .notBefore(.seconds(30)), at: 0) { 0 }
        routes.fail(route(second), .backOff, at: 0) { 1 }
        #expect(routes.route(for: Self.file(), to: both, at: 0) == nil)
        #expect(routes.nextAttempt(over: UploadRoutes.all(to: both)) == Duration.seconds(1).nanoseconds)
        #expect(collector(&routes, at: 999_999_999) == nil)
        // A round that cannot begin does not change the time of the next attempt.
        #expect(routes.nextAttempt(over: UploadRoutes.all(to: both)) == Duration.seconds(1).nanoseconds)
        #expect(collector(&routes, at: 1_000_000_000) == second)
        routes.fail(route(second), .longest, at: 1_000_000_000) { 1 }
        #expect(collector(&routes, at: 30_000_000_000) == first)
    }

    @Test func flushPrefersAWorkingCollectorToOneThatHasJustFailed() {
        var routes = UploadRoutes()
        routes.fail(route(first), .backOff, at: 0) { 1 }
        #expect(collector(&routes, at: 0, isCallerWaiting: true) == second)
        routes.fail(route(second), .backOff, at: 0) { 1 }
        #expect(collector(&routes, at: 0) == nil)
        #expect(collector(&routes, at: 0, isCallerWaiting: true) == first)
    }

    /// Otherwise details would be sent before the metrics of their interval.
    @Test func bothSignalsWaitForTheSameTime() {
        var routes = UploadRoutes()
        routes.fail(route(first), .notBefore(.seconds(30)), at: 0)
        for signal in Signal.allCases { #expect(routes.route(for: Self.file(signal), to: [first], at: 0) == nil) }
        let times = Signal.allCases.map { routes.nextAttempt(over: [route(first, $0)]) }
        #expect(times[0] == times[1])
    }

    @Test func wrongPathForOneSignalBlocksOnlyThatSignal() {
        var routes = UploadRoutes()
        routes.fail(route(first, .traces), .longest, at: 0) { 1 }
        #expect(routes.route(for: Self.file(.metrics), to: both, at: 0) == route(first))
        #expect(routes.route(for: Self.file(.traces), to: both, at: 0) == route(second, .traces))
    }

    // MARK: Batches that may have arrived

    @Test(arguments: [("s", "s", true), ("s", "t", false), (nil, "s", false), ("s", nil, false), (nil, nil, false)])
    func batchThatMayHaveArrivedGoesToAnotherCollectorOnlyIfBothHaveTheSameStore(
        mine: String?, other: String?, isFree: Bool
    ) {
        var routes = routes(stores: [:])
        routes.note(Self.answer(store: mine), over: route(first))
        routes.note(Self.answer(store: other), over: route(second))
        let file = Self.file(at: routes.place(of: Self.file(), over: route(first), among: both))
        #expect(routes.route(for: file, to: both, at: 0) == route(first))
        routes.fail(route(first), .backOff, at: 0) { 1 }
        #expect(routes.route(for: file, to: both, at: 0) == (isFree ? route(second) : nil))
        // It waits for the collector that may have it.
        #expect(isFree || routes.nextAttempt(over: [route(first)]) < .max)
        #expect(routes.route(for: Self.file(), to: both, at: 0) == route(second))
    }

    @Test func nextProcessKnowsTheStoreThatABatchWasSentTo() {
        let sent = routes(stores: [first: "s"]).place(of: Self.file(), over: route(first), among: both)
        let name = Self.file(at: sent).name
        for (store, isFree) in [("s", true), ("t", false)] {
            var routes = routes(stores: [second: store])
            routes.fail(route(first), .backOff, at: 0) { 1 }
            let file = BatchFile(name: name) ?? Self.file()
            #expect(routes.route(for: file, to: both, at: 0) == (isFree ? route(second) : nil))
        }
    }

    @Test func batchSentToAnotherCollectorStaysWithTheStoreThatMayHaveIt() {
        let known = routes(stores: [first: "s", second: "s"])
        let place = known.place(of: Self.file(), over: route(first), among: both)
        #expect(known.place(of: Self.file(at: place), over: route(second), among: both) == place)
    }

    @Test func collectorReplacedByAnotherProgramHasNoKnownStore() {
        var routes = routes(stores: [first: "s", second: "s"])
        routes.note(Self.answer(503, store: nil), over: route(second))
        let file = Self.file(at: routes.place(of: Self.file(), over: route(first), among: both))
        routes.fail(route(first), .backOff, at: 0) { 1 }
        #expect(routes.route(for: file, to: both, at: 0) == route(second))
        routes.note(Self.answer(200, store: nil), over: route(second))
        #expect(routes.route(for: file, to: both, at: 0) == nil)
    }

    @Test func possibleHolderOutsideTheListIsReplaced() {
        let old = PossibleHolder(address: Self.url("http://old:4318"), store: nil)
        var routes = UploadRoutes()
        #expect(routes.route(for: Self.file(at: old), to: both, at: 0) == route(first))
        let place = routes.place(of: Self.file(at: old), over: route(first), among: both)
        #expect(place == PossibleHolder(address: first, store: nil))
    }
}
