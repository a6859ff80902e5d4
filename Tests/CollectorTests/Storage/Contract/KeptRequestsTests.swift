import Fixtures
import MartletStorage
import MartletTelemetry
import Testing

extension StorageContractTests {
    @Suite struct KeptRequestsTests {
        private let folder: TemporaryFolder
        private let storage: any Storage

        init() async throws {
            folder = try TemporaryFolder()
            storage = try await StorageContractTests.makeStore(in: folder)
        }

        /// A request that starts at second `number` and takes `milliseconds`.
        private func request(
            _ number: UInt8, milliseconds: UInt64 = 10, _ dimensions: RequestDimensions = Samples.dimensions()
        ) -> SpanRecord {
            var span = Samples.detail(number)
            span.start = Samples.time(UInt64(number))
            span.durationNanoseconds = milliseconds * 1_000_000
            span.request = dimensions
            return span
        }

        private func store(_ spans: [SpanRecord], from resource: TelemetryResource = Samples.resource()) async throws {
            _ = try await storage.store([DetailsBatch(resource: resource, details: spans)], of: nil)
        }

        private func query(_ change: (inout RequestsQuery) -> Void = { _ in }) -> RequestsQuery {
            var query = RequestsQuery(window: Samples.everything, limit: 100)
            change(&query)
            return query
        }

        /// Returns the seconds at which the listed requests start.
        private func seconds(_ query: RequestsQuery) async throws -> [UInt64] {
            try await storage.requests(query).requests.map { ($0.span.start - Samples.time(0)) / 1_000_000_000 }
        }

        @Test func requestsComeInBothOrdersAndBothDirections() async throws {
            try await store([request(2, milliseconds: 30), request(3, milliseconds: 10), request(1, milliseconds: 20)])
            #expect(try await seconds(query()) == [3, 2, 1])
            #expect(try await seconds(query { $0.order = .init(.time, ascending: true) }) == [1, 2, 3])
            #expect(try await seconds(query { $0.order = .init(.duration) }) == [2, 1, 3])
            #expect(try await seconds(query { $0.order = .init(.duration, ascending: true) }) == [3, 1, 2])
        }

        @Test(arguments: [
            RequestsQuery.Order(.time), RequestsQuery.Order(.time, ascending: true), RequestsQuery.Order(.duration),
            RequestsQuery.Order(.duration, ascending: true),
        ])
        func pagesShowEveryRequestOnceAlthoughRanksAreEqual(order: RequestsQuery.Order) async throws {
            // Five requests at a time share their start and their duration.
            let spans = (0..<23).map { number in
                var span = request(UInt8(number + 1), milliseconds: UInt64(number / 5))
                span.start = Samples.time(UInt64(number / 5))
                return span
            }
            try await store(spans)
            var page = query {
                $0.limit = 4
                $0.order = order
            }
            var ids: [String] = []
            while true {
                let answer = try await storage.requests(page)
                #expect(answer.count == 23)
                ids += answer.requests.map(\.id)
                guard answer.isThereMore else { break }
                page.before = try #require(answer.requests.last?.id)
            }
            #expect(ids.count == 23)
            #expect(Set(ids).count == 23)
            page.before = nil
            page.limit = 100
            #expect(try await storage.requests(page).requests.map(\.id) == ids)
        }

        @Test func pageAfterAnUnknownRequestIsRefused() async throws {
            try await store([request(1)])
            for id in ["zzzz", "", "no id", "-1"] {
                await #expect(throws: UnknownRequest(id: id)) { try await storage.requests(query { $0.before = id }) }
            }
        }

        @Test func filtersLeaveOutTheRest() async throws {
            try await store([
                request(1), request(2, Samples.dimensions(status: 503, error: "503")),
                request(3, Samples.dimensions(.server, endpoint: "/a", status: 404)),
                request(4, Samples.dimensions(status: nil, error: "timeout")),
            ])
            try await store([request(5)], from: Samples.resource("cart", instance: "i-2"))
            let cases: [([Dimension: Set<String>], [UInt64])] = [
                ([:], [5, 4, 3, 2, 1]), ([.service: ["cart"]], [5]),
                ([.service: ["cart", "checkout"]], [5, 4, 3, 2, 1]),
                ([.instance: ["i-1"]], [4, 3, 2, 1]), ([.version: ["1.2"]], [5, 4, 3, 2, 1]), ([.version: ["2"]], []),
                ([.environment: ["test"], .service: ["cart"]], [5]), ([.kind: ["server"]], [3]),
                ([.host: ["api.example.com:443"]], [5, 4, 3, 2, 1]), ([.host: ["api.example.com"]], [5, 4, 3, 2, 1]),
                ([.host: ["API.Example.com:443"]], [5, 4, 3, 2, 1]), ([.host: ["api.example.com:80"]], []),
                ([.method: ["POST"]], []), ([.endpoint: ["/a"]], [3]),
                ([.status: ["5xx", "404"]], [3, 2]), ([.status: [""]], [4]), ([.error: ["timeout"]], [4]),
                ([.error: [""]], [5, 3, 1]),
            ]
            for (wanted, expected) in cases {
                let query = query { $0.filter = RequestFilter(wanted) }
                #expect(try await seconds(query) == expected, "\(wanted)")
                #expect(try await storage.requests(query).count == expected.count)
            }
        }

        @Test func failedAndSlowRequestsAreFound() async throws {
            try await store([
                request(1, milliseconds: 100),
                request(2, milliseconds: 101, Samples.dimensions(status: 404, error: "404")),
                request(3, milliseconds: 500, Samples.dimensions(.server, status: 404)),
                request(4, Samples.dimensions(status: nil, error: "cancelled")),
                request(5, Samples.dimensions(status: nil, error: "hung")),
            ])
            #expect(try await seconds(query { $0.onlyFailed = true }) == [5, 2])
            #expect(try await seconds(query { $0.slowerThan = 100_000_000 }) == [3, 2])
            #expect(
                try await seconds(
                    query {
                        $0.slowerThan = 100_000_000
                        $0.onlyFailed = true
                    }) == [2])
        }

        @Test func fastRequestsAreFound() async throws {
            try await store([
                request(1, milliseconds: 99), request(2, milliseconds: 100), request(3, milliseconds: 101),
                request(4, milliseconds: 0),
            ])
            #expect(try await seconds(query { $0.fasterThan = 100_000_000 }) == [4, 1])
            #expect(try await seconds(query { $0.fasterThan = 100_000_001 }) == [4, 2, 1])
            #expect(try await seconds(query { $0.fasterThan = 0 }) == [])
            #expect(try await seconds(query { $0.fasterThan = .max }) == [4, 3, 2, 1])
            #expect(
                try await seconds(
                    query {
                        $0.slowerThan = 99_000_000
                        $0.fasterThan = 101_000_000
                    }) == [2])
        }

        @Test func onlyRequestsThatStartInTheWindowAreListed() async throws {
            try await store([request(1), request(2), request(3)])
            let window = TimeWindow(from: Samples.time(1), to: Samples.time(2))
            #expect(try await seconds(query { $0.window = window }) == [2])
        }

        @Test(arguments: [
            ("users/7", true), ("USERS/7", true), ("GET /users/{id}", true), ("unavailable", true), ("503", true),
            ("\"order\":4711", true), ("order\\\":4711", false), ("x-tenant", true), ("blue", true), ("blu_", false),
            ("50%_off\\", true), ("api.example.com:443", true), ("api.example.com:80", false),
            ("checkout", true), ("I-1", true), ("1.2", true), ("50%off", false), ("50x", false), ("i-2", false),
            ("é", true), ("'); DROP TABLE detail; --", false),
        ])
        func aTextIsFoundInEveryKeptField(text: String, isFound: Bool) async throws {
            var span = request(1, Samples.dimensions(status: 503, error: "503"))
            span.attributes = [
                "http.request.header.x-tenant": .array([.string("blue")]),
                "martlet.request.body": .string(#"{"order":4711,"note":"50%_off\"}"#),
            ]
            span.events = [SpanEvent(name: "café", time: span.start)]
            try await store([span])
            #expect(try await storage.requests(query { $0.text = text }).count == (isFound ? 1 : 0))
        }

        @Test func traceIsFoundByTheBeginningOfItsID() async throws {
            try await store([request(1), request(2)])
            let text = String(request(2).traceID.description.prefix(8))
            #expect(try await seconds(query { $0.text = text }) == [2])
        }

        @Test func spansThatAreNotRequestsAreNotListed() async throws {
            var span = request(1)
            span.request = nil
            span.kind = .internal
            try await store([span, request(2)])
            #expect(try await seconds(query()) == [2])
        }

        @Test func listedRequestIsFoundUnchangedByItsID() async throws {
            let spans = [Samples.span(1), Samples.span(2)]
            try await store(spans, from: Samples.resource("shop"))
            let listed = try await storage.requests(query { $0.order = .init(.time, ascending: true) }).requests
            #expect(listed.map(\.span) == spans)
            for request in listed {
                #expect(try await storage.request(request.id) == request)
                #expect(request.resource == Samples.resource("shop"))
                #expect(request.id.allSatisfy { $0.isASCII && ($0.isLowercase || $0.isNumber) })
            }
        }

        @Test(arguments: ["", "zzzz", "0", "-1", "no id", "é", "1'", String(repeating: "9", count: 100)])
        func otherIDsFindNoRequest(id: String) async throws {
            try await store([request(1)])
            #expect(try await storage.request(id) == nil)
        }

        @Test func countsStayWhenRequestsAreRemoved() async throws {
            var resource = Samples.resource()
            resource.agent = nil
            try await store((1...200).map { request($0) }, from: resource)
            try await store((1...200).map { request($0) }, from: Samples.resource("cart"))
            #expect(try await storage.removeDetails() == 400)
            #expect(try await storage.requests(query()).count == 0)
            #expect(try await storage.removeDetails() == 0)
            let answer = try await storage.statistics(StatisticsQuery(window: Samples.everything, by: [.service]))
            #expect(answer.groups.map(\.values).contains(["checkout"]))
            try await store([request(201)])
            #expect(try await seconds(query()) == [201])
        }
    }
}
