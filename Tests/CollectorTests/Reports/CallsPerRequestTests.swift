import Fixtures
import MartletSQLiteStorage
import MartletStorage
import MartletTelemetry
import Testing

@testable import MartletReports

/// The outgoing requests for each served one, from the counts and the kept traces of a store.
@Suite struct CallsPerRequestTests {
    private let folder: TemporaryFolder
    private let storage: SQLiteStorage

    init() throws {
        folder = try TemporaryFolder()
        storage = try SQLiteStorage(path: folder.path("collector.sqlite"), now: { Samples.time(120) })
    }

    private func calls(_ filter: RequestFilter = Gallery.filter) async throws -> CallsPerRequest {
        try await CallsPerRequestQuery(served: filter, of: "todos")
            .answer(in: Gallery.window, before: Gallery.before, from: storage)
    }

    private func filter(_ dimension: Dimension, _ value: String) -> RequestFilter {
        var filter = Gallery.filter
        filter.removeAll(dimension)
        filter.select(dimension, value)
        return filter
    }

    @Test func countsOfBothSidesAreExactForTheOnlyServedEndpoint() async throws {
        try await Gallery.count([(Gallery.served(), 20, 0.1), (Gallery.called(), 20, 0.002)], end: 50, in: storage)
        try await Gallery.count(
            [
                (Gallery.served(), 15, 0.1), (Gallery.served(status: 500), 5, 0.1), (Gallery.called(), 700, 0.002),
                (Gallery.called(status: 503), 60, 0.002), (Gallery.called("/users/{id}"), 5, 0.001),
            ], in: storage)
        // Another service's requests do not count.
        try await Gallery.count([(Gallery.served("/x"), 9, 1), (Gallery.called(), 9, 1)], of: "other", in: storage)

        let calls = try await calls()
        #expect((calls.served, calls.traces == nil, calls.unknown) == (20, true, 0))
        #expect(calls.rows.map(\.called.endpoint) == ["/files/{name}", "/users/{id}"])
        #expect(calls.rows.map(\.called.host) == ["files:80", "files:80"])
        #expect(calls.rows.map(\.calls) == [38, 0.25])
        #expect(calls.rows.map(\.before) == [1, 0])
        #expect(calls.rows.allSatisfy { abs($0.share - $0.calls * ($0.before == 1 ? 0.002 : 0.001) / 0.1) < 1e-9 })
    }

    @Test func callsThatEndedAreShownAndAWindowWithoutRequestsIsUnknown() async throws {
        try await Gallery.count([(Gallery.served(), 10, 0.1), (Gallery.called(), 20, 0.1)], end: 50, in: storage)
        try await Gallery.count([(Gallery.served(), 10, 0.1)], in: storage)
        let ended = try await calls()
        #expect(ended.rows.map { [$0.calls, $0.before] } == [[0, 2]])
        let began = try await CallsPerRequestQuery(served: Gallery.filter, of: "todos").answer(
            in: Gallery.before, before: TimeWindow(from: Gallery.before.from - 1, to: Gallery.before.from),
            from: storage)
        #expect(began.rows.map { [$0.calls, $0.before] } == [[2, nil]])
    }

    /// Counts 30 calls for 10 requests of each of two endpoints.
    private func countTwoEndpoints() async throws {
        try await Gallery.count(
            [(Gallery.served(), 10, 0.1), (Gallery.served("/search"), 10, 0.1), (Gallery.called(), 30, 0.01)],
            in: storage)
    }

    @Test func callsOfSeveralServedEndpointsAreUnknownWithoutTraces() async throws {
        try await countTwoEndpoints()
        let calls = try await calls()
        #expect(calls.rows.isEmpty && !calls.isEmpty)
        #expect((calls.traces, calls.unknown) == (0, 1))
    }

    @Test func tracesSplitTheCallsOfSeveralServedEndpoints() async throws {
        try await countTwoEndpoints()
        try await Gallery.keep(
            [
                Gallery.span(1, Gallery.served(), in: 1), Gallery.span(2, Gallery.called(), in: 1, under: 1),
                Gallery.span(3, Gallery.called(), in: 1, under: 1),
                Gallery.span(4, Gallery.served("/search"), in: 4), Gallery.span(5, Gallery.called(), in: 4, under: 4),
            ], in: storage)
        let gallery = try await calls()
        #expect((gallery.traces, gallery.unknown) == (2, 0))
        #expect(gallery.rows.map(\.calls) == [2])
        #expect(abs((gallery.rows.first?.share ?? 0) - 0.2) < 1e-9)
        let search = try await calls(filter(.endpoint, "/search"))
        #expect(search.rows.map(\.calls) == [1])
    }

    /// A tracer's spans that are no requests may lie between a call and the request around it.
    @Test func callBelongsToTheOnlyServedEndpointOfItsTrace() async throws {
        try await countTwoEndpoints()
        try await Gallery.keep(
            [
                Gallery.span(1, Gallery.served(), in: 1), Gallery.span(2, Gallery.called(), in: 1, under: 90),
                // Nothing is around this one, so it was made for no request.
                Gallery.span(3, Gallery.called(), in: 3),
                // It is unknown which of the two made this call.
                Gallery.span(4, Gallery.served(), in: 4), Gallery.span(5, Gallery.served("/search"), in: 4),
                Gallery.span(6, Gallery.called(), in: 4, under: 91),
            ], in: storage)
        let calls = try await calls()
        #expect(calls.rows.map(\.calls) == [1.5])
        #expect(calls.traces == 2)
    }

    /// Each request and each call counts where its own span belongs, even if the service calls itself.
    @Test func callWithinANestedRequestBelongsToThat() async throws {
        try await countTwoEndpoints()
        try await Gallery.keep(
            [
                Gallery.span(1, Gallery.served(), in: 1), Gallery.span(2, Gallery.called(), in: 1, under: 1),
                Gallery.span(3, Gallery.served("/search"), in: 1, under: 2),
                Gallery.span(4, Gallery.called(), in: 1, under: 3), Gallery.span(5, Gallery.called(), in: 1, under: 3),
            ], in: storage)
        #expect(try await calls().rows.map(\.calls) == [1])
        #expect(try await calls(filter(.endpoint, "/search")).rows.map(\.calls) == [2])
    }

    @Test func tracesSplitTheCallsOfRequestsWithOneStatus() async throws {
        try await Gallery.count(
            [(Gallery.served(), 10, 0.1), (Gallery.served(status: 500), 10, 0.1), (Gallery.called(), 40, 0.01)],
            in: storage)
        let failed = [2, 3, 4].map { Gallery.span($0, Gallery.called(), in: 1, under: 1) }
        try await Gallery.keep(
            [Gallery.span(1, Gallery.served(status: 500), in: 1)] + failed + [
                Gallery.span(5, Gallery.served(), in: 5), Gallery.span(6, Gallery.called(), in: 5, under: 5),
            ], in: storage)
        #expect(try await calls(filter(.status, "500")).rows.map(\.calls) == [3])
        #expect(try await calls().traces == nil)
    }
}
