import Foundation
import MartletStorage
import Testing

@testable import MartletReports

@Suite struct TopKeyTests {
    @Test func arrowsEnterAndLettersAreKeys() {
        let bytes = Array("\u{1b}[A\u{1b}OBjé\r\u{7f}\u{3}".utf8)
        #expect(
            TopKey.keys(in: bytes) == [
                .up, .down, .character("j"), .character("é"), .enter, .backspace, .interrupt,
            ])
    }

    @Test(arguments: [
        ("\u{1b}", [TopKey.escape]), ("\u{1b}[5~q", [.character("q")]), ("\u{1b}[1;5Aq", [.up, .character("q")]),
        ("\u{1b}[", []), ("\u{1}\u{1a}", []), ("\u{1b}\u{1b}", [.escape, .escape]),
    ])
    func otherSequencesAreNotLetters(text: String, keys: [TopKey]) {
        #expect(TopKey.keys(in: Array(text.utf8)) == keys)
    }
}

@Suite struct TopStateTests {
    private func state(_ keys: String = "") -> TopState {
        var state = TopState(order: .impact)
        state.take(.report(SampleReport.report, SampleReport.context), to: .report(.impact))
        for key in TopKey.keys(in: Array(keys.utf8)) { state.press(key) }
        return state
    }

    private func endpoints(_ state: TopState) -> [String] { state.rows.map { $0.text(of: .endpoint) } }

    private func lines(_ state: TopState, columns: Int = 120, height: Int = 24, isColored: Bool = false) -> [String] {
        let device = OutputDevice(columns: columns, isColored: isColored)
        let now = TimeText.parse("2026-11-21T10:00:02Z", now: 0) ?? 0
        return TopScreen.lines(of: state, on: device, height: height, now: now)
    }

    @Test func sCyclesThroughAllFiguresAndAsksAgain() {
        let orders = (0...8).map { state(String(repeating: "s", count: $0)).question }
        #expect(orders.dropLast() == GroupOrder.Measure.allCases.map { .report($0) }[...])
        #expect(orders.last == .report(.impact))
    }

    @Test func sortedColumnIsMarked() {
        let sorted = state(String(repeating: "s", count: 5))
        #expect(sorted.order == .p95)
        #expect(lines(sorted).contains { $0.contains("p95 ms↓") })
        #expect(lines(sorted).contains("sorted by p95"))
    }

    @Test(arguments: [
        (76, "s sort  f failed only  / filter  space pause  Enter requests  ? help  q quit"),
        (75, "s sort  f failed only  / filter  space pause  ? help  q quit"),
        (50, "s sort  f failed only  / filter  ? help  q quit"), (20, "? help  q quit"),
    ])
    func narrowScreenKeepsHelpAndQuit(columns: Int, keys: String) {
        #expect(lines(state(), columns: columns).last == keys)
    }

    @Test func fHidesRowsWithoutFailures() {
        #expect(endpoints(state()).contains(""))
        #expect(!endpoints(state("f")).contains(""))
        #expect(endpoints(state("ff")) == endpoints(state()))
    }

    @Test func totalsAreHiddenIfOnlySomeRowsAreShown() {
        #expect(lines(state()).contains { $0.contains("Outgoing: 19,635 requests") })
        #expect(!lines(state("f")).contains { $0.contains("Outgoing: 19,635 requests") })
    }

    @Test func lettersOfAFilterAreNotKeys() {
        let typed = state("/PAYMq")
        #expect(typed.isTyping)
        #expect(!typed.isEnded)
        #expect(typed.rows.isEmpty)
        #expect(lines(typed).contains("/PAYMq▏"))
        #expect(Set(endpoints(state("/PAYM\r"))) == ["/payments"])
        #expect(endpoints(state("/PAYMq\u{7f}\r")) == endpoints(state("/paym\r")))
        #expect(endpoints(state("/paym\u{1b}")) == endpoints(state()))
    }

    @Test func sameRowStaysSelectedWhereverItMoves() throws {
        var state = state("jj")
        let name = try #require(state.selectedRow?.dimensions)
        var report = SampleReport.report
        report.rows.reverse()
        state.take(.report(report, SampleReport.context), to: .report(.impact))
        #expect(state.selectedRow?.dimensions == name)
        #expect(state.selected != 2)
    }

    @Test func selectionStaysAmongTheRows() {
        #expect(state("kk").selected == 0)
        let all = state().rows.count
        #expect(state(String(repeating: "j", count: 50)).selected == all - 1)
        #expect(state(String(repeating: "j", count: 50) + "/charges\r").selected == 0)
    }

    @Test func enterAsksForTheRequestsOfTheRowAndQReturns() throws {
        var state = state("j\r")
        let row = try #require(SampleReport.report.rows.first { $0.text(of: .endpoint) == "/charges" })
        #expect(state.question == .requests(of: row.dimensions, onlyFailed: false))
        #expect(lines(state)[0].hasPrefix("Requests of payments client POST acquirer.example:443 /charges"))
        state.press(.character("f"))
        #expect(state.question == .requests(of: row.dimensions, onlyFailed: true))
        state.take(.requests(SampleRequest.list), to: state.question)
        #expect(lines(state).contains { $0.contains("3 kept requests") })
        state.press(.character("q"))
        #expect(state.question == .report(.impact))
        #expect(!state.isEnded)
    }

    @Test func requestsOfARowScrollUpToTheLastOne() {
        var state = state("j\r")
        state.take(.requests(SampleRequest.list), to: state.question)
        let ids = SampleRequest.list.requests.map(\.id)
        func shown() -> [String] { ids.filter { id in lines(state).contains { $0.hasSuffix(id) } } }
        #expect(shown() == ids)
        state.press(.down)
        #expect(shown() == Array(ids.dropFirst()))
        for _ in 0..<9 { state.press(.character("j")) }
        #expect(shown() == [ids[ids.count - 1]])
        state.press(.character("k"))
        #expect(shown() == Array(ids.suffix(2)))
        #expect(lines(state).contains { $0.contains("3 kept requests") })
        for key in [TopKey.character("q"), .enter] { state.press(key) }
        #expect(state.firstRequest == 0)
    }

    @Test func qAndCtrlCQuit() {
        #expect(state("q").isEnded)
        #expect(state("\u{3}").isEnded)
        #expect(state("/\u{3}").isEnded)
        #expect(state("\r\u{3}").isEnded)
    }

    @Test func pauseIsShownInYellow() {
        #expect(lines(state(" ")).contains("sorted by impact, paused: space resumes"))
        #expect(
            lines(state(" "), isColored: true).contains { $0.contains("\u{1b}[33mpaused: space resumes\u{1b}[0m") })
        #expect(!state("  ").isPaused)
    }

    @Test func problemKeepsTheFiguresAndIsShownInYellow() {
        var state = state()
        state.fail("no collector answers at http://127.0.0.1:4318: connection refused")
        let shown = lines(state, isColored: true)
        #expect(shown.contains { $0.contains("/charges") })
        #expect(
            shown.contains(
                "\u{1b}[33mno collector answers at http://127.0.0.1:4318: connection refused; retrying\u{1b}[0m"))
        state.take(.report(SampleReport.report, SampleReport.context), to: .report(.impact))
        #expect(state.trouble == nil)
    }

    @Test func answerToAnEarlierQuestionIsIgnored() {
        var state = state("s")
        var report = SampleReport.report
        report.rows = []
        state.take(.report(report, SampleReport.context), to: .report(.impact))
        #expect(state.report?.rows.isEmpty == false)
    }

    @Test func emptyReportIsExplained() {
        var state = TopState(order: .impact)
        #expect(lines(state)[0] == "Loading …")
        var report = SampleReport.report
        (report.rows, report.rowCount, report.totals.measures.count) = ([], 0, 0)
        report.empty = .nobodyReported
        state.take(.report(report, SampleReport.context), to: .report(.impact))
        #expect(lines(state).contains { $0.hasPrefix("No agents have reported yet.") })
    }

    @Test(arguments: [0, 1, 2, 3, 5, 8, 12, 24, 60])
    func screenIsFilledAndShowsTheSelectedRow(height: Int) {
        for keys in ["", "jjjjjjjj", "f", "/", "?", " ", "\r"] {
            let lines = lines(state(keys), height: height)
            #expect(lines.count == height)
            if height >= 12, keys == "jjjjjjjj" { #expect(lines.contains { $0.hasPrefix("> ") }) }
        }
    }

    @Test(arguments: [20, 80, 120])
    func noLineOfTextIsLongerThanTheScreen(columns: Int) {
        var state = state()
        state.fail(String(repeating: "long ", count: 80))
        for line in lines(state, columns: columns, height: 60) where !line.hasPrefix("  ") && !line.hasPrefix("> ") {
            #expect(TextWidth.of(line) <= max(columns, 77), "\(line)")
        }
    }

    @Test(arguments: [30, 50, 60, 80])
    func rowLongerThanTheScreenIsShownInSeveralLines(columns: Int) throws {
        let lines = lines(state("jj"), columns: columns, height: 90)
        for line in lines where line.hasPrefix("  ") || line.hasPrefix("> ") {
            #expect(TextWidth.of(line) <= columns, "\(line)")
        }
        let figures = lines.joined().filter { !" >".contains($0) }
        #expect(figures.contains("Outgoing:19,635requests"))
    }

    @Test(arguments: ["f", "//payments\r", "/nothing\r"])
    func headingNamesTheWorstOfAllRowsWhateverIsOnTheScreen(keys: String) {
        #expect(lines(state())[0].contains("failed, 353 of them in POST /checkout."))
        #expect(lines(state(keys))[0] == lines(state())[0])
    }

    @Test(arguments: [
        ("one two three", 8, ["one two ", "three"]), ("onetwothree", 4, ["onet", "woth", "ree"]),
        ("\u{1b}[1mone two\u{1b}[0m three", 8, ["\u{1b}[1mone two\u{1b}[0m ", "three"]), ("", 4, [""]),
        ("ab cdefghi", 4, ["ab ", "cdef", "ghi"]),
    ])
    func longLineBreaksAtABlank(text: String, columns: Int, lines: [String]) {
        #expect(OutputDevice(columns: columns).wrapped(text) == lines)
    }

    @Test func hostileTextDoesNotControlTheTerminal() {
        var state = state("/\u{202e}\u{9b}2J\r")
        state.fail("\u{1b}[2J")
        for text in [lines(state), lines(self.state("/=cmd\r\r"))].joined() {
            #expect(!text.contains("\u{1b}") && !text.contains("\u{202e}") && !text.contains("\u{9b}"))
        }
    }

    @Test func selectedRowIsReversedThroughItsColours() throws {
        let line = try #require(lines(state(), isColored: true).first { $0.contains("> ") })
        #expect(line.hasPrefix("\u{1b}[7m> "))
        #expect(line.hasSuffix("\u{1b}[0m"))
        #expect(line.contains("\u{1b}[0;7m"))
    }
}
