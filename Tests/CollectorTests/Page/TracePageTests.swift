import Fixtures
import HummingbirdTesting
import MartletTelemetry
import Testing

@Suite struct TracePageTests {
    private let address = "/traces/01000000000000000000000000000001"

    /// - Parameter milliseconds: the start, after the first second.
    private func span(
        _ number: UInt8, under parent: UInt8?, after milliseconds: UInt64, _ kind: SpanRecord.Kind,
        status: Int? = nil
    ) -> SpanRecord {
        KeptRequests.span(number) { span in
            span.traceID = Samples.detail(1).traceID
            span.parentSpanID = parent.flatMap { SpanID(UInt64($0)) }
            span.start = Samples.time(1) + milliseconds * 1_000_000
            (span.kind, span.name, span.isError) = (kind, "step \(number)", (status ?? 0) >= 500)
            span.request = status.map {
                Samples.dimensions(kind == .server ? .server : .client, status: $0, error: $0 >= 500 ? "\($0)" : nil)
            }
        }
    }

    private func send(to client: any TestClientProtocol) async throws {
        try await KeptRequests.send(
            [
                span(1, under: nil, after: 50, .server, status: 502), span(2, under: 1, after: 60, .internal),
                span(3, under: 1, after: 70, .client, status: 503),
            ], to: client)
        try await KeptRequests.send(
            [span(4, under: 3, after: 30, .server, status: 503)],
            of: Samples.resource("payments", instance: "p-1"), to: client)
    }

    @Test func errorsComeFirstAndLinkToTheFirstOne() async throws {
        try await withServer { client in
            try await send(to: client)
            let page = try await client.read(address)
            #expect(page.status == 200)
            #expect(
                page.text.contains(
                    "Errors 3 of 4 spans Duration 290 ms Services 2 checkout, payments Spans 4 all are shown"))
            #expect(page.text.contains("Failed first payments serves step 4"))
            #expect(page.text.contains("payments serves step 4 p-1 503 failed first to the top"))
            #expect(page.markup.matches(of: #/<a href="#(\w+)"/#).map { String($0.1) } == ["s4", "s3", "s4", "errors"])
        }
    }

    @Test func spanIsDrawnByItsKind() async throws {
        try await withServer { client in
            try await send(to: client)
            let markup = try await client.read(address).markup
            for (row, name) in [
                ("s1", "b-server failedbar"), ("s2", "b-internal"), ("s3", "b-client failedbar"),
                ("s4", "b-server failedbar"),
            ] {
                let cells = try #require(
                    markup.split(separator: #"<tr id="\#(row)""#).last?.split(separator: "</tr>").first)
                #expect(cells.contains(#"<rect class="\#(name)""#), "\(row)")
            }
            #expect(markup.contains(#"id="s4" class="d2 err""#))
        }
    }

    @Test func clockThatIsBehindIsReported() async throws {
        try await withServer { client in
            try await send(to: client)
            let text = try await client.read(address).text
            #expect(text.contains("The clock of payments (p-1) is 40.0 ms or more behind that of checkout (i-1)"))
        }
    }

    @Test func spanOfARequestLinksToItsPage() async throws {
        try await withServer { client in
            try await send(to: client)
            let page = try await client.read(address + "?since=6h")
            let links = page.links.filter { $0.hasPrefix("/requests/") }
            #expect(links.count == 3)
            #expect(links.allSatisfy { $0.hasSuffix("?since=6h") })
            #expect(try await client.read(links[0]).text.contains("Failed first payments serves step 4"))
        }
    }

    /// Sends a trace of 1,003 spans, each of which begins after the one before.
    private func send(failing: Set<UInt64>, to client: any TestClientProtocol) async throws {
        let spans = (1...1003 as ClosedRange<UInt64>).map { number in
            var span = span(1, under: nil, after: number, .internal)
            (span.name, span.isError) = ("step \(number)", failing.contains(number))
            span.spanID = SpanID(number) ?? span.spanID
            return span
        }
        try await KeptRequests.send(spans, to: client)
    }

    @Test func omittedSpansAreCounted() async throws {
        try await withServer { client in
            try await send(failing: [], to: client)
            let text = try await client.read(address).text
            #expect(text.contains("Spans 1,003 1,000 are shown"))
            #expect(text.contains("3 more spans of this trace are kept. All failed spans are shown"))
            #expect(text.contains("Errors none of 1,003 spans"))
        }
    }

    @Test func allFailedSpansOfALongTraceAreShown() async throws {
        try await withServer { client in
            try await send(failing: [7, 1002], to: client)
            let text = try await client.read(address).text
            #expect(text.contains("Errors 2 of 1,003 spans"))
            #expect(text.contains("does step 1002"))
            #expect(!text.contains("does step 1003") && !text.contains("does step 1000 "))
        }
    }

    @Test func pageSaysThatFailedSpansWereLeftOut() async throws {
        try await withServer { client in
            try await send(failing: Set(1...1003), to: client)
            let text = try await client.read(address).text
            #expect(text.contains("Errors 1,000 or more of 1,003 spans"))
            #expect(text.contains("3 more spans of this trace are kept. Only failed spans are shown"))
        }
    }

    /// Sends a request of 2.1 s that makes 40 equal calls, one after the other. Two of them fail, and the last one takes the longest.
    private func sendGallery(to client: any TestClientProtocol) async throws {
        var gallery = span(1, under: nil, after: 0, .server, status: 200)
        (gallery.name, gallery.durationNanoseconds) = ("GET /gallery", 2_100_000_000)
        let calls = (0..<40 as Range<UInt64>).map { number in
            var call = span(
                UInt8(number + 2), under: 1, after: 50 + number * 50, .client,
                status: [3, 20].contains(number) ? 503 : 200)
            (call.name, call.durationNanoseconds) = ("GET /files/{name}", (number == 39 ? 90 : 47) * 1_000_000)
            return call
        }
        try await KeptRequests.send([gallery] + calls, to: client)
    }

    @Test func equalSiblingsShareALineWithWhatDiffers() async throws {
        try await withServer { client in
            try await sendGallery(to: client)
            let page = try await client.read(address + "?since=6h")
            #expect(page.markup.matches(of: #/<tr id="s\d+"/#).count == 2)
            #expect(
                page.text.contains(
                    """
                    checkout calls 40 × GET /files/{name} one after the other, 1.92 s of 2.10 s 2 failed slowest 90.0 ms \
                    failed first to the top
                    """), "\(page.text)")
            #expect(page.text.contains("Errors 2 of 41 spans"))
            let bars = try #require(page.markup.split(separator: #"<tr id="s2""#).last?.split(separator: "</tr>").first)
            #expect(bars.matches(of: #/<rect class="b-client failedbar"/#).count == 2)
            #expect(bars.contains("40 spans from 50.0 ms, one after the other, for 1,923 ms"))
            // The first failure has a place to go to, although it shares a line.
            #expect(page.links.contains("#s5") && page.markup.contains(#"id="s5""#))
            for row in ["s2", "s5", "s41"] { #expect(page.links.contains(address + "?since=6h&spans=all#\(row)")) }
        }
    }

    @Test func foldedSpansAreUnfoldedByAnAddress() async throws {
        try await withServer { client in
            try await sendGallery(to: client)
            let page = try await client.read(address + "?since=6h&spans=all")
            #expect(page.markup.matches(of: #/<tr id="s\d+"/#).count == 41)
            #expect(page.markup.contains(#"<tr id="s41""#) && !page.text.contains("×"))
            #expect(page.links.contains(address + "?since=6h"))
        }
    }

    /// The page of a request shows the beginning of its trace, with a separate line for the request.
    @Test func requestIsNotFoldedOnItsOwnPage() async throws {
        try await withServer { client in
            try await sendGallery(to: client)
            let request = try await KeptRequests.id("since=6h&sort=duration&kind=client", from: client)
            let page = try await client.read("/requests/\(request)")
            #expect(page.text.contains("checkout calls 39 × GET /files/{name} one after the other"))
            #expect(page.text.contains("Trace 41 spans"))
            #expect(page.links.contains(address + "?spans=all#s5"))
        }
    }

    @Test func traceWithoutEqualSiblingsHasNothingToUnfold() async throws {
        try await withServer { client in
            try await send(to: client)
            #expect(try await !client.read(address).markup.contains("spans=all"))
        }
    }

    @Test func namesFromASenderStayText() async throws {
        try await withServer { client in
            let name = KeptRequests.hostile
            var span = span(1, under: nil, after: 1, .internal)
            span.name = name
            try await KeptRequests.send([span], of: Samples.resource(name, instance: name), to: client)
            let page = try await client.read(address)
            #expect(page.text.contains(#"<mark> \u{200d}\u{202e} x"'&"#))
            #expect(!page.markup.contains("<mark") && !page.shown.contains("\u{202e}"))
        }
    }

    @Test(arguments: ["01000000000000000000000000000009", "zz", "%3Cb%3E", "00000000000000000000000000000000"])
    func unknownTraceReturns404WithASentence(id: String) async throws {
        try await withServer { client in
            let page = try await client.read("/traces/\(id)")
            #expect(page.status == 404)
            #expect(page.text.contains("no spans of this trace are kept"))
        }
    }

    /// Such a request has no status.
    @Test func spanOfARequestToADatabaseLinksToItsPage() async throws {
        try await withCalledSystems { client in
            let page = try await client.read(address + "?since=1m")
            #expect(page.text.contains("shop calls SELECT users"))
            #expect(page.links.count { $0.hasPrefix("/requests/") } == 1)
        }
    }
}
