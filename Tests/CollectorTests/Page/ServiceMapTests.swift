import Fixtures
import Foundation
import HummingbirdTesting
import MartletTelemetry
import Testing

@Suite struct ServiceMapTests {
    @Test func answerIncludesLossesOnOtherEdges() async throws {
        try await withServer(clock: { Samples.time(58) }) { client in
            _ = try await client.post(
                try CallBatch.body(
                    "shop",
                    [
                        (.client, "pay", 1000, nil), (.client, "pay", 7, "connection_refused"),
                        (.client, "stock", 20, nil), (.client, "stock", 2, "connection_refused"),
                    ]))
            for (service, count) in [("pay", 1000), ("stock", 20)] {
                _ = try await client.post(try CallBatch.body(service, [(.server, service, count, nil)]))
            }
            let page = try await client.read("/map?since=1m")
            #expect(page.text.contains("7 of 1,007 requests did not reach pay, and 2 were lost on 1 other edge"))
        }
    }

    @Test func mapShowsWhoCalledWhomAndWhatWasLost() async throws {
        try await withServer(clock: { Samples.time(58) }) { client in
            _ = try await client.post(
                try CallBatch.body(
                    "shop", [(.client, "pay", 1000, nil), (.client, "pay", 7, "connection_refused")]))
            _ = try await client.post(
                try CallBatch.body("pay", [(.server, "pay", 1000, nil), (.client, "bank", 5, nil)]))
            let page = try await client.read("/map?since=1m")
            #expect(page.status == 200)
            #expect(page.text.contains("7 of 1,007 requests did not reach pay"))
            #expect(page.text.contains("shop sent 1,007, pay received 1,000"))
            #expect(page.text.contains("shop → pay pay:443 1,007 1,000 7 0.70 0.00"))
            #expect(page.text.contains("pay → bank:443 bank:443 5 unknown 0 0.00 – "))
            #expect(page.markup.contains(">7 lost</text>"))
            #expect(page.markup.contains(">no agent seen there</text>"))
            #expect(
                page.links.contains(
                    "/requests?since=1m&service=shop&kind=client&host=pay%3A443&error=connection_refused"))
            #expect(page.links.contains("/?since=1m&service=shop&host=pay%3A443"))
            #expect(page.links.contains("/endpoint?since=1m&service=shop"))
            #expect(page.commands == ["martlet-collector map --since 1m"])
            #expect(page.links.contains("/api/v1/map?since=1m"))
        }
    }

    @Test(arguments: [(997, false), (980, true)])
    func mapReportsRequestsThatTheOtherSideDidNotCount(arrived: Int, isTold: Bool) async throws {
        try await withServer(clock: { Samples.time(58) }) { client in
            _ = try await client.post(try CallBatch.body("shop", [(.client, "pay", 1000, nil)]))
            _ = try await client.post(try CallBatch.body("pay", [(.server, "pay", arrived, nil)]))
            let page = try await client.read("/map?since=1m")
            #expect(page.text.contains("\(1000 - arrived) more were sent than arrived") == isTold)
        }
    }

    /// Behind a proxy, only spans show which service answers.
    @Test func mapIsUnchangedAfterDetailsAreDeleted() async throws {
        try await withServer(clock: { Samples.time(58) }) { client in
            _ = try await client.post(try CallBatch.body("shop", [(.client, "proxy", 9, nil)]))
            _ = try await client.post(try CallBatch.body("pay", [(.server, "pay", 8, nil)]))
            let call = CallSpans.span(1, .client, host: "proxy", at: 45)
            let served = CallSpans.span(2, .server, host: "pay", parent: call, at: 45)
            for (service, var span) in [("shop", call), ("pay", served)] {
                span.request?.port = 443
                try await KeptRequests.send(
                    [span], of: Samples.resource(service, instance: "\(service)-1"), to: client)
            }
            let before = try await client.read("/map?since=1m")
            #expect(before.text.contains("shop → pay proxy:443, served as pay:443, according to spans 9 8"))
            #expect(!before.markup.contains(">no agent seen there</text>"))
            let cleared = try await client.executeRequest(
                uri: "/requests/clear?since=1m", method: .post, headers: [:], body: nil)
            #expect(cleared.status == .seeOther)
            #expect(try await client.read("/requests?since=1m").text.contains("none of them is kept"))
            let after = try await client.read("/map?since=1m")
            #expect(after.text == before.text)
        }
    }

    @Test func filterByServiceKeepsTheOtherEndsOfItsEdges() async throws {
        try await withServer(clock: { Samples.time(58) }) { client in
            _ = try await client.post(
                try CallBatch.body("shop", [(.client, "pay", 3, nil), (.client, "mail", 2, nil)]))
            _ = try await client.post(try CallBatch.body("pay", [(.server, "pay", 3, nil)]))
            let page = try await client.read("/map?since=1m&service=pay")
            #expect(page.text.contains("shop → pay"))
            #expect(!page.text.contains("mail"))
            #expect(page.commands == ["martlet-collector map --since 1m --service pay"])
        }
    }

    @Test func unknownHostHasANameAndLinksToItsRequests() async throws {
        try await withServer(clock: { Samples.time(58) }) { client in
            var dimensions = Samples.dimensions()
            (dimensions.host, dimensions.port) = ("", 0)
            let batch = MetricsBatch(
                resource: Samples.resource("shop"), start: Samples.time(40), end: Samples.time(50),
                series: [dimensions: Samples.statistics([0.1, 0.1])], ledger: Ledger(captured: 2, waiting: 2))
            _ = try await client.post(try batch.otlp())
            _ = try await client.post(try CallBatch.body("shop", [(.client, "pay", 3, nil)]))
            let page = try await client.read("/map?since=1m")
            #expect(page.text.contains("shop → unknown host unknown host 2"))
            #expect(page.markup.contains(">unknown host</text>"))
            let requests = "/requests?since=1m&service=shop&kind=client&host="
            #expect(page.links.contains(requests))
            #expect(try await client.read(requests).text.contains("2 outgoing requests"))
            let overview = try await client.read("/?since=1m")
            #expect(overview.text.contains("unknown host shop 2"))
            #expect(overview.text.contains("shop → unknown host"))
            let ofHost = try #require(overview.links.first { $0.hasSuffix("&host=&kind=client") })
            #expect(try await client.read(ofHost).text.contains("None of 2 requests failed"))
        }
    }

    @Test func allOfTwoHundredServicesAreListedAndTheLargestDrawn() async throws {
        try await withServer(clock: { Samples.time(58) }) { client in
            for number in 0..<200 {
                let name = "s\(number)"
                _ = try await client.post(
                    try CallBatch.body(
                        name, [(.client, "s\((number * 7 + 1) % 200)", number + 1, nil), (.server, name, 1, nil)]))
            }
            let page = try await client.read("/map?since=1m")
            #expect(page.status == 200)
            #expect(page.text.contains("Edges 200"))
            #expect(
                page.text.contains(
                    "40 of 200 edges: first those with lost requests, then those with the most requests."))
            #expect(page.markup.ranges(of: "class=\"edge").count == 41)
        }
    }

    @Test func mapWithoutRequestsSaysWhy() async throws {
        try await withServer { client in
            let page = try await client.read("/map")
            #expect(page.text.contains("No agents have reported yet"))
        }
    }

    @Test func namesInThePictureArePlainText() async throws {
        let hostile = "</text><script>\u{202e}<\u{600}b>"
        try await withServer(clock: { Samples.time(58) }) { client in
            _ = try await client.post(try CallBatch.body(hostile, [(.client, hostile, 3, nil)]))
            let page = try await client.read("/map?since=1m")
            #expect(page.status == 200)
            #expect(!page.markup.contains("</text><script>"))
            #expect(page.markup.range(of: "<\u{600}b", options: .literal) == nil)
            // An element that does not belong to SVG would end the picture.
            let picture = try #require(
                page.markup.split(separator: "<svg class=\"map\"").last?.split(separator: "</svg>").first)
            #expect(!picture.contains("<span"))
        }
    }

    @Test func filterThatTheMapDoesNotHaveReturns400() async throws {
        try await withServer { client in
            let page = try await client.read("/map?method=GET")
            #expect(page.status == 400)
            #expect(page.text.contains("method is no filter of the map, which has only service and environment"))
        }
    }

    @Test func databaseOfTwoServicesIsOneBox() async throws {
        try await withCalledSystems { client in
            let page = try await client.read("/map?since=1m")
            let database = "db.internal:5432 (postgresql)"
            #expect(page.text.contains("shop → \(database) \(database) 8 unknown unknown for 2 25.00 –"))
            #expect(page.text.contains("desk → \(database) \(database) 1 unknown 0 0.00 –"))
            #expect(page.markup.ranges(of: ">postgresql</text>").count == 1)
            #expect(page.markup.ranges(of: ">elasticsearch</text>").count == 1)
            #expect(page.markup.ranges(of: ">es:9200</text>").count == 2)
            #expect(page.markup.ranges(of: ">no agent seen there</text>").count == 1)
        }
    }

    @Test func linksOfAnEdgeSelectItsSystem() async throws {
        try await withCalledSystems { client in
            let links = try await client.read("/map?since=1m").links
            for (link, sentence) in [
                ("/?since=1m&host=db.internal%3A5432&system=postgresql", "2 of 9 requests failed"),
                ("/?since=1m&host=es%3A9200&system=", "None of 3 requests failed"),
                (
                    "/requests?since=1m&service=shop&kind=client&host=db.internal%3A5432&system=postgresql",
                    "8 outgoing requests"
                ), ("/requests?since=1m&service=shop&kind=client&host=es%3A9200&system=", "3 outgoing requests"),
            ] {
                #expect(links.contains(link), "\(link)")
                #expect(try await client.read(link).text.contains(sentence), "\(link)")
            }
        }
    }
}
