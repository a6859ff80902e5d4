import Foundation
import MartletOTLP
import MartletTelemetry
import Testing

@testable import Martlet

@Suite struct RecorderTests {
    @Test func everyRequestIsCountedAtAnySampleRate() throws {
        var configuration = MartletConfiguration()
        configuration.sampleRate = 0
        let recorder = Recorder(configuration)
        for number in 0..<1000 { recorder.record(Self.request("https://api.example.com/users/\(number)")) }
        let (interval, captured) = recorder.drain()
        #expect(captured == 1000)
        let (dimensions, statistics) = try #require(interval.series.first)
        #expect(interval.series.count == 1)
        #expect(dimensions.endpoint == "/users/{id}")
        #expect(dimensions.host == "api.example.com")
        #expect(dimensions.port == 443)
        #expect(statistics.duration.count == 1000)
        #expect(interval.details.isEmpty)
    }

    @Test func requestsFromManyThreadsAreAllCounted() async {
        let recorder = Recorder(MartletConfiguration())
        await withTaskGroup(of: Void.self) { group in
            for worker in 0..<8 {
                group.addTask {
                    for _ in 0..<500 { recorder.record(Self.request("http://host/\(worker % 2 == 0 ? "a" : "b")")) }
                }
            }
        }
        let (interval, captured) = recorder.drain()
        #expect(captured == 4000)
        #expect(interval.series.values.map(\.duration.count).sorted() == [2000, 2000])
    }

    @Test func inventedErrorTypesAreLimitedAndTheirRequestsAreCounted() throws {
        let recorder = Recorder(MartletConfiguration())
        let invented = (0..<150).map { "no order \($0)" }
        for error in invented + invented + ["hung", "cancelled"] {
            var request = Self.request("http://host/a")
            request.error = error
            recorder.record(request)
        }
        let series = recorder.drain().interval.series
        let counts = Dictionary(uniqueKeysWithValues: series.map { ($0.key.error, $0.value.duration.count) })
        #expect(counts.count == MartletLimits.errorTypes + 3)
        #expect(counts["_OTHER"] == 2 * UInt64(150 - MartletLimits.errorTypes))
        #expect(counts["hung"] == 1)
        #expect(counts["cancelled"] == 1)
    }

    @Test func inventedErrorTypesTakeNoneOfTheAgentsOwn() {
        let recorder = Recorder(MartletConfiguration())
        let own = Set(ErrorType.allCases.map(\.rawValue) + CallStatus.allCases.map(\.rawValue))
        for error in (0..<150).map({ "no order \($0)" }) + own {
            var request = Self.request("http://host/a")
            request.error = error
            recorder.record(request)
        }
        #expect(Set(recorder.drain().interval.series.keys.compactMap(\.error)).isSuperset(of: own))
    }

    @Test func placeOfManyNamesHoldsAValueAndGivesTheNamesBack() {
        var configuration = MartletConfiguration()
        configuration.maxEndpoints = 60
        let recorder = Recorder(configuration)
        let names = "abcdefgh".flatMap { first in "abcdefgh".map { "\(first)\($0)" } }.prefix(60)
        let endpoints = { (host: String, place: String, names: ArraySlice<String>) in
            for name in names { recorder.record(Self.request("http://\(host)/\(place)/\(name)/orders")) }
            return Set(recorder.drain().interval.series.keys.map(\.endpoint))
        }
        let first = names.prefix(MartletLimits.namesOfAPlace)
        #expect(
            endpoints("host", "users", names) == Set(first.map { "/users/\($0)/orders" } + ["/users/{id}/orders"]))
        #expect(endpoints("host", "users", names) == ["/users/{id}/orders"])
        // The names left room for others, and the same path of another host has other names.
        #expect(endpoints("host", "teams", first) == Set(first.map { "/teams/\($0)/orders" }))
        #expect(endpoints("other", "users", names.prefix(5)) == Set(names.prefix(5).map { "/users/\($0)/orders" }))
    }

    @Test func detailsCountTowardsMemoryUntilTheyAreDrainedAndReleased() {
        var configuration = MartletConfiguration()
        configuration.maxMemory = 1 << 20
        let recorder = Recorder(configuration)
        let span = SpanRecord(
            traceID: TraceIDs.nextTrace(), spanID: TraceIDs.nextSpan(), name: "large", kind: .internal, start: 0,
            durationNanoseconds: 1)
        recorder.keep(span, bytes: 1 << 19)
        #expect(!recorder.reserveDetails(isSampled: true, isFailure: false, nanoseconds: 1))
        #expect(recorder.estimatedBytes >= 1 << 19)
        #expect(recorder.drain().interval.details == [span])
        #expect(!recorder.reserveDetails(isSampled: true, isFailure: false, nanoseconds: 1))
        #expect(recorder.estimatedBytes >= 1 << 19)
        recorder.noteReleased()
        #expect(recorder.estimatedBytes < 1 << 19)
        #expect(recorder.reserveDetails(isSampled: true, isFailure: false, nanoseconds: 1))
    }

    @Test func drainedStatisticsCountTowardsMemoryUntilTheyAreReleased() {
        let recorder = Recorder(MartletConfiguration())
        for number in 0..<100 { recorder.record(Self.request("http://host-\(number)/a")) }
        let held = recorder.estimatedBytes
        #expect(held > 0)
        _ = recorder.drain()
        #expect(recorder.estimatedBytes == held)
        recorder.noteReleased()
        #expect(recorder.estimatedBytes == 0)
    }

    @Test func disallowedDetailsAreCountedAsDropped() {
        let recorder = Recorder(MartletConfiguration())
        recorder.allow(.withoutDetails)
        #expect(!recorder.reserveDetails(isSampled: true, isFailure: false, nanoseconds: 1))
        #expect(!recorder.reserveDetails(isSampled: false, isFailure: false, nanoseconds: 1))
        #expect(recorder.droppedDetails == 1)
    }

    @Test func spanHasTheEndpointThatItsRequestWasCountedUnder() throws {
        var configuration = MartletConfiguration()
        configuration.maxEndpoints = 1
        let recorder = Recorder(configuration)
        for path in ["a", "b"] {
            var request = Self.request("http://host/\(path)")
            request.makeSpan = { dimensions in
                SpanRecord(
                    traceID: TraceIDs.nextTrace(), spanID: TraceIDs.nextSpan(), name: dimensions.endpoint,
                    kind: .client, start: 0, durationNanoseconds: 1)
            }
            recorder.record(request)
        }
        #expect(recorder.drain().interval.details.map(\.name) == ["/a", "{other}"])
    }

    @Test func clockSetBackMakesNoIntervalInTheFuture() {
        let recorder = Recorder(MartletConfiguration())
        let now = Clock.wall()
        _ = recorder.drain(at: now + 1_000_000_000)
        for step in 1...3 as ClosedRange<UInt64> {
            let interval = recorder.drain(at: now + step).interval
            #expect(interval.start < interval.end)
            #expect(interval.end == now + step)
        }
    }

    @Test(arguments: [Duration.seconds(Int64.max), .seconds(20_000_000_000)])
    func longestDurationDoesNotOverflowADeadline(duration: Duration) {
        #expect(Clock.monotonic().addingReportingOverflow(duration.nanoseconds).overflow == false)
        #expect(duration.nanoseconds > UInt64(1) << 62)
    }

    @Test(arguments: ["http:///", "http://[::1]:80/x", "http://host/%00%1b[2J", "http://HOST./", "https://ü.example/ü"])
    func oddURLIsCountedLikeAnyOther(text: String) throws {
        let recorder = Recorder(MartletConfiguration())
        recorder.record(Self.request(text))
        let dimensions = try #require(recorder.drain().interval.series.first).key
        #expect(dimensions.endpoint.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f })
    }

    static func request(_ url: String) -> CapturedRequest {
        CapturedRequest(
            method: "GET", destination: .url(URL(string: url) ?? URL(fileURLWithPath: "/")), status: 200,
            start: Clock.wall(),
            durationNanoseconds: 1_000_000)
    }
}
