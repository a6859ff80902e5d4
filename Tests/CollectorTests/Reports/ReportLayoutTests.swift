import MartletStorage
import MartletTelemetry
import Testing

@testable import MartletReports

/// The parts of a report on a terminal, and their positions.
@Suite struct ReportLayoutTests {
    private func report(_ by: [Dimension], _ rows: [([String?], count: UInt64, failed: UInt64)]) -> Report {
        let lines = rows.map { row in
            ReportRow(
                dimensions: Dictionary(uniqueKeysWithValues: zip(by, row.0)),
                measures: measures(row.count, failed: row.failed))
        }
        let total = measures(rows.reduce(0) { $0 + $1.count }, failed: rows.reduce(0) { $0 + $1.failed })
        return Report(
            from: "2026-11-21T09:00:00Z", to: "2026-11-21T10:00:00Z", by: by, completeness: 1, rowCount: lines.count,
            rows: lines, totals: ReportRow(dimensions: [:], measures: total), totalsByKind: totals(by, rows))
    }

    /// Rows without a kind count as rows of clients.
    private func totals(
        _ by: [Dimension], _ rows: [([String?], count: UInt64, failed: UInt64)]
    ) -> [RequestKind: ReportRow] {
        var sums: [RequestKind: (count: UInt64, failed: UInt64)] = [:]
        for row in rows {
            let kind = by.firstIndex(of: .kind).flatMap { row.0[$0] }.flatMap(RequestKind.init) ?? .client
            let sum = sums[kind] ?? (0, 0)
            sums[kind] = (sum.count + row.count, sum.failed + row.failed)
        }
        return sums.mapValues { ReportRow(dimensions: [:], measures: measures($0.count, failed: $0.failed)) }
    }

    private func measures(_ count: UInt64, failed: UInt64) -> RequestMeasures {
        RequestMeasures(
            count: count, perSecond: Double(count) / 3600,
            failures: .init(
                count: failed, rate: Double(failed) / Double(max(1, count)), transport: 0, http4xx: 0, http5xx: failed,
                hung: 0, cancelled: 0),
            latency: .init(mean: 5, p50: 4, p75: 5, p90: 6, p95: 7, p99: 8, max: 9), phases: [:],
            bytes: .init(sent: 0, received: 0), apdex: 1, impact: 0)
    }

    private func lines(_ report: Report, _ context: ReportContext = ReportContext(), columns: Int?) -> [String] {
        ReportTable.text(of: report, context, on: OutputDevice(columns: columns))
            .split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }

    private let twoKinds: [([String?], count: UInt64, failed: UInt64)] = [
        (["shop", "client", "/pay"], 100, 10), (["shop", "server", "/buy"], 50, 5),
        (["shop", "client", "/see"], 300, 0),
    ]

    @Test func clientsAndServersAreNeverAddedUp() {
        let report = report([.service, .kind, .endpoint], twoKinds)
        let terminal = lines(report, columns: 120)
        #expect(terminal.contains("Outgoing from shop: 400 requests, 2.50 % failed, p95 7.00 ms"))
        #expect(terminal.contains("Incoming to shop: 50 requests, 10.00 % failed, p95 7.00 ms"))
        #expect(
            terminal[0].hasPrefix("10 of 400 outgoing and 5 of 50 incoming requests failed, 10 of them in /pay."))
        let file = lines(report, columns: nil)
        let totals = file.filter { $0.hasPrefix("total") }
        #expect(totals.count == 2)
        #expect(totals[0].hasPrefix("total client"))
        #expect(totals[0].contains(" 400 "))
        #expect(totals[1].hasPrefix("total server"))
        #expect(!(terminal + file).contains { $0.contains("450") })
    }

    @Test func rowsOfBothKindsHaveTwoTotals() {
        var mixed = report([.endpoint], [(["/pay"], 10, 1), (["/buy"], 10, 1)])
        let half = ReportRow(dimensions: [:], measures: measures(10, failed: 1))
        mixed.totalsByKind = [.client: half, .server: half]
        #expect(lines(mixed, columns: nil).filter { $0.hasPrefix("total ") }.count == 2)
        let terminal = lines(mixed, columns: 100)
        #expect(terminal[0].hasPrefix("1 of 10 outgoing and 1 of 10 incoming requests failed"))
        #expect(terminal.contains("Outgoing and incoming"))
    }

    @Test func cutRowsAreReported() {
        var cut = report([.service, .kind, .endpoint], twoKinds)
        cut.rows.removeLast()
        let lines = lines(cut, columns: nil)
        #expect(lines.contains("the first 2 of 3 rows; totals are of all rows"))
        #expect(lines.filter { $0.hasPrefix("total ") }.count == 2)
        #expect(lines[0] == "10 of 400 outgoing and 5 of 50 incoming requests failed.")
    }

    @Test func valuesThatRepeatMoveIntoTheHeading() {
        let by: [Dimension] = [.service, .kind, .method, .host, .endpoint]
        let report = report(
            by, [(["shop", "client", "GET", "a:80", "/x"], 2, 0), (["shop", "client", "POST", "a:80", "/x"], 1, 0)])
        let terminal = lines(report, columns: 80)
        #expect(terminal.contains { $0.hasPrefix("Outgoing from shop (host a:80): 3 requests") })
        #expect(terminal.contains { $0.hasPrefix("      endpoint  count") })
        #expect(terminal.contains { $0.hasPrefix("GET   /x") })
        #expect(lines(report, columns: nil).contains { $0.hasPrefix("shop     client  GET     a:80  /x") })
    }

    /// The total includes the rows that were left out, so its title only has values that these share.
    @Test func titleOfATotalNamesNoValueOfOnlyTheShownRows() {
        let by: [Dimension] = [.service, .kind, .method, .endpoint]
        var report = report(
            by,
            [(["shop", "client", "GET", "/a"], 2, 0), (["shop", "client", "GET", "/b"], 2, 0)]
                + [(["cart", "client", "POST", "/c"], 9, 0)])
        report.rows.removeLast()
        #expect(lines(report, columns: 80).contains { $0.hasPrefix("Outgoing: 13 requests") })
        #expect(lines(report, columns: 80).contains { $0.hasPrefix("shop     GET  /a") })
        var context = ReportContext()
        context.flags = [CommandFlag("service", "shop"), CommandFlag("method", "GET"), CommandFlag("method", "PUT")]
        #expect(lines(report, context, columns: 80).contains { $0.hasPrefix("Outgoing from shop: 13 requests") })
    }

    @Test func noteSaysSinceWhenRatesAreCounted() {
        var report = report([.endpoint], [(["/a"], 2, 0)])
        report.ratesSince = "2026-11-21T09:44:10Z"
        #expect(
            lines(report, columns: nil).contains { $0.hasPrefix("per s is counted since 2026-11-21T09:44:10Z, when ") })
        var context = ReportContext()
        context.now = TimeText.parse("2026-11-21T10:00:02Z", now: 0)
        #expect(
            lines(report, context, columns: 80).contains { $0.hasPrefix("per s is counted since 09:44:10 UTC, when ") })
    }

    @Test func noteSaysSinceWhenInstancesAreKnown() {
        var byInstance = report([.instance], [(["i-1"], 2, 0), ([""], 3, 0)])
        var filtered = report([.endpoint], [(["/a"], 2, 0)])
        for report in [byInstance, filtered] { #expect(!lines(report, columns: nil).contains { $0.contains("known") }) }
        byInstance.instancesSince = "2026-11-21T04:00:00Z"
        filtered.instancesSince = "2026-11-21T04:00:00Z"
        let note = "instances are known since 2026-11-21T04:00:00Z; earlier requests "
        #expect(lines(byInstance, columns: nil).contains(note + "have none"))
        #expect(lines(filtered, columns: nil).contains(note + "are not counted"))
    }

    @Test func narrowTerminalDropsColumnsInTheirOrder() {
        let name = String(repeating: "n", count: 30)
        var report = report([.service, .endpoint], [([name, "/a"], 1000, 10), (["b", name], 10, 0)])
        for row in report.rows.indices {
            report.rows[row].trend = ReportRow.Trend(count: [1, 2, 3], failed: [0, 0, 0])
            report.rows[row].lastSeen = "1970-01-01T00:00:00Z"
        }
        var context = ReportContext()
        context.now = 5_000_000_000
        let all = [
            "received KiB", "apdex", "impact %", "failures", "max ms", "seen", "p50 ms", "p99 ms", "trend", "per s",
        ]
        var before: Set<String> = []
        var lost: [String] = []
        for columns in stride(from: 200, through: 40, by: -1) {
            let titles = lines(report, context, columns: columns).first { $0.contains("count") } ?? ""
            let shown = all.filter { titles.contains($0) }
            lost += before.subtracting(shown).sorted()
            before = Set(shown)
            #expect(["count", "failed %", "p95 ms"].allSatisfy { titles.contains($0) }, "\(columns)")
        }
        #expect(lost == all)
    }

    @Test func requestedPhasesAreDroppedAfterOtherFiguresAndTheFirstByteLast() {
        let phases = ["queue ms", "transfer ms", "dns ms", "tls ms", "connect ms", "first byte ms"]
        let others = ["received KiB", "apdex", "impact %", "max ms", "p50 ms", "p99 ms", "per s"]
        var report = report([.service, .endpoint], [(["shop", "/a"], 1000, 10), (["b", "/b"], 10, 0)])
        for row in report.rows.indices {
            report.rows[row].measures.phases = Dictionary(
                uniqueKeysWithValues: RequestPhase.allCases.map { ($0.rawValue, 1.5) })
        }
        var context = ReportContext()
        context.showsPhases = true
        var before: Set<String> = []
        var lost: [String] = []
        for columns in stride(from: 250, through: 30, by: -1) {
            let titles = lines(report, context, columns: columns).first { $0.hasPrefix("service") } ?? ""
            let shown = (others + phases).filter { titles.contains($0) }
            lost += before.subtracting(shown).sorted()
            before = Set(shown)
        }
        #expect(lost == others + phases)
    }

    @Test(arguments: [60, 70, 80, 100, 120, 200])
    func firstLineFitsTheTerminalAndNamesTheWorstRowIfThereIsRoom(columns: Int) {
        let name = "/payments/of/the/last/month/by/people/who/bought/it"
        let kinds = report(
            [.service, .kind, .endpoint],
            [(["shop", "client", name], 9560, 270), (["shop", "server", "/b"], 5000, 201)])
        let one = report([.endpoint], [([name], 9560, 270), (["/b"], 100, 201)])
        for (report, start) in [
            (kinds, "270 of 9,560 outgoing and 201 of 5,000 incoming\(columns > 64 ? " requests" : "") failed"),
            (one, "471 of 9,660 requests failed"),
        ] {
            let first = lines(report, columns: columns)[0]
            let end = first.range(of: ".  ")?.lowerBound ?? first.index(before: first.endIndex)
            let sentence = first[..<end]
            #expect(first.hasPrefix(start))
            #expect(TextWidth.of(first) <= columns)
            let named = sentence.dropFirst(start.count)
            #expect(named.isEmpty || (named.hasPrefix(", 270 of them in /") && named.count >= 18 + 11))
            #expect(named.isEmpty == (columns < start.count + 18 + 12))
        }
    }

    @Test func noLineOfATableIsLongerThanANarrowTerminal() {
        let by: [Dimension] = [.service, .method, .host, .endpoint]
        let name = String(repeating: "n", count: 30)
        let report = report(
            by, [([name, "DELETE", name, name], 1_234_567, 345_678), (["b", "GET", name + ":80", "/"], 10, 0)])
        for columns in stride(from: 120, through: 55, by: -1) {
            let text = ReportTable.text(of: report, on: OutputDevice(columns: columns))
            let table = text.split(separator: "\n").drop { !$0.hasPrefix("Outgoing") }.dropFirst().prefix(3)
            #expect(table.count == 3)
            #expect(table.allSatisfy { TextWidth.of(String($0)) <= columns }, "\(columns): \(table)")
            #expect(["count", "failed %", "p95 ms"].allSatisfy { table.first?.contains($0) ?? false })
        }
    }

    @Test func decimalPointsAreAligned() {
        var table = TextTable([TextTable.Column(title: "p95 ms", alignment: .figure)])
        table.addTitles()
        for figure in ["67.6", "1,614", "0.219", "–", "<0.001"] { table.add([TextTable.Cell(figure)]) }
        #expect(
            table.text(on: .file) == """
                   p95 ms
                   67.6
                1,614
                    0.219
                    –
                   <0.001

                """)
    }

    @Test func hungAndCancelledRequestsAreReportedIfThereAreAny() {
        let text = lines(SampleReport.report, SampleReport.context, columns: 200)
        #expect(text.contains { $0.hasPrefix("Outgoing: ") && $0.hasSuffix(", 1 hung, 3 cancelled") })
        let wide = text.filter { !$0.hasPrefix("Outgoing: ") }
        #expect(wide.filter { $0.hasSuffix("1 hung") }.count == 1)
        #expect(wide.filter { $0.hasSuffix("3 cancelled") }.count == 1)
    }

    @Test func staleDataAndAClockThatIsAheadAreReported() throws {
        var report = SampleReport.report
        report.totals.lastSeen = "2026-11-21T09:48:00Z"
        #expect(lines(report, SampleReport.context, columns: 100).contains { $0.hasSuffix("latest 12 min ago") })
        report.totals.lastSeen = "2026-11-21T10:05:02Z"
        #expect(
            lines(report, SampleReport.context, columns: 100).contains {
                $0.hasSuffix("latest 5 min ahead: a clock is off")
            })
    }

    @Test func firstLineNamesTheRowOfItsCount() {
        func first(_ by: [Dimension], _ rows: [([String?], count: UInt64, failed: UInt64)]) -> String {
            lines(report(by, rows), columns: nil)[0]
        }
        let byStatus = first([.status, .kind], [(["500", "client"], 9, 4), (["503", "client"], 9, 5)])
        #expect(byStatus.hasSuffix(" failed, 5 of them in 503 client."))
        let byService = first([.service, .status], [(["a", "503"], 9, 4), (["b", "503"], 9, 5)])
        #expect(byService.hasSuffix(" failed, 5 of them in b 503."))
        let byEndpoint = first([.host, .endpoint], [(["a", "/x"], 9, 4), (["b", "/x"], 9, 5), (["b", "/y"], 9, 0)])
        #expect(byEndpoint.hasSuffix(" failed, 5 of them in b /x."))
        let id = "376efe4c-3f0e-4d4d-9d56-0a8a7c0b2f11"
        let byInstance = first([.service, .instance], [(["edge", "i-1"], 9, 4), (["edge", id], 9, 5)])
        #expect(byInstance.hasSuffix(" failed, 5 of them on instance 376efe4c of edge."))
        let byName = first([.instance], [(["i-1"], 9, 5), (["i-2"], 9, 0)])
        #expect(byName.hasSuffix(" failed, 5 of them on instance i-1."))
    }

    @Test func oneRequestIsVisibleInATrend() {
        var report = report([.endpoint], [(["/a"], 1, 0), (["/b"], 9, 0)])
        for row in report.rows.indices {
            report.rows[row].trend = ReportRow.Trend(
                count: [0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0], failed: Array(repeating: 0, count: 11))
        }
        #expect(lines(report, columns: 200).contains { $0.hasPrefix("/a") && $0.contains("▁█") })
    }

    @Test func lastLineSelectsRequestsWithoutAValueIfTheRowHasNone() {
        let text = lines(report([.status], [([nil], 9, 4), (["503"], 9, 1)]), columns: nil)
        #expect(text.suffix(2).first == "See them:  martlet-collector requests --status '' --failed")
    }

    @Test func lastLineHasAllDimensionsIfRowsAreLeftOut() {
        var report = report([.service, .endpoint], [(["shop", "/a"], 9, 4)])
        report.rowCount = 2
        #expect(
            lines(report, columns: nil).suffix(2).first
                == "See them:  martlet-collector requests --service shop --endpoint /a --failed")
    }

    @Test func lastLineOfAVersionComparisonHasTheLaterVersion() {
        var context = ReportContext()
        context.flags = [CommandFlag("compare", "version:1.8..1.9")]
        let text = lines(report([.service, .endpoint], [(["shop", "/a"], 9, 1)]), context, columns: nil)
        #expect(
            text.suffix(2).first
                == "See them:  martlet-collector requests --version 1.9 --endpoint /a --failed")
    }

    @Test func lastLineHasTheSameFilters() {
        var context = ReportContext()
        context.flags = [
            CommandFlag("since", "1h"), CommandFlag("service", "my shop"), CommandFlag("by", "endpoint"),
            CommandFlag("sort", "p95"), CommandFlag("top", "3"), CommandFlag("ascending"),
            CommandFlag("collector", "http://127.0.0.1:4319"),
        ]
        let failing = report([.endpoint], [(["/a b"], 9, 1), (["/c"], 9, 2)])
        #expect(
            lines(failing, context, columns: nil).suffix(2).first
                == "See them:  martlet-collector requests --since 1h --service 'my shop' --collector http://127.0.0.1:4319"
                + " --endpoint /c --failed")
        let fine = report([.endpoint], [(["/a b"], 9, 0)])
        #expect(lines(fine, context, columns: nil).suffix(2).first?.hasSuffix("4319") == true)
    }

    @Test func requestedPhasesAreColumns() {
        var context = ReportContext()
        for columns in [nil, 250] {
            context.showsPhases = false
            #expect(!lines(SampleReport.report, context, columns: columns).contains { $0.contains("first byte ms") })
            context.showsPhases = true
            #expect(lines(SampleReport.report, context, columns: columns).contains { $0.contains("first byte ms") })
        }
    }

    @Test func rowOfFewRequestsDoesNotSetTheScaleOfBars() {
        let report = report([.endpoint], [(["/a"], 100, 10), (["/b"], 100, 5), (["/c"], 2, 2)])
        let bars = lines(report, columns: 100).filter { $0.hasPrefix("/") }.map { line in line.filter { $0 > "▀" } }
        #expect(bars == ["███", "█▌", "███"])
    }

    @Test func terminalOmitsTheUsualPort() {
        let report = report([.host, .endpoint], [(["a:443", "/"], 1, 0), (["a:80", "/"], 1, 0)])
        #expect(lines(report, columns: 80).contains { $0.hasPrefix("a     /") })
        #expect(lines(report, columns: 80).contains { $0.hasPrefix("a:80  /") })
        #expect(lines(report, columns: nil).contains { $0.hasPrefix("a:443  /") })
    }

    @Test func phasesWithoutRoomAreReported() {
        var context = SampleReport.context
        context.showsPhases = true
        #expect(lines(SampleReport.report, context, columns: 80).contains { $0.hasPrefix("No room for queue ms") })
        #expect(!lines(SampleReport.report, context, columns: 250).contains { $0.hasPrefix("No room") })
    }

    @Test func terminalHasColumnsForKnownPhases() {
        var (report, context) = (report([.endpoint], [(["/a"], 1, 0), (["/b"], 1, 0)]), ReportContext())
        context.showsPhases = true
        for row in report.rows.indices { report.rows[row].measures.phases = [:] }
        #expect(lines(report, context, columns: 200).contains("No sender reports the phases of these requests."))
        report.rows[1].measures.phases = ["dns": 4]
        let titles = lines(report, context, columns: 200).first { $0.hasPrefix("endpoint") } ?? ""
        #expect(titles.contains("dns ms") && !titles.contains("tls ms"))
        #expect(lines(report, context, columns: nil).contains { $0.contains("tls ms") })
    }

    @Test func timeOnAnotherDayHasItsDate() {
        let report = report([.endpoint], [(["/"], 1, 0)])
        var context = ReportContext()
        context.now = TimeText.parse("2026-11-22T00:00:00Z", now: 0)
        #expect(
            lines(report, context, columns: 80).contains { $0.contains("2026-11-21 09:00 to 2026-11-21 10:00 UTC") })
        context.now = TimeText.parse("2026-11-21T23:59:59Z", now: 0)
        #expect(
            lines(report, context, columns: 80).contains { $0.contains("09:00 to 10:00 UTC") && !$0.contains("2026") })
    }
}
