import Foundation
import MartletStorage
import MartletTelemetry

/// The lines above a table: the answer in a sentence, the window and its data, the gaps in the figures, and the requests changed
/// by rules.
struct ReportHeading {
    private let report: Report
    private let context: ReportContext
    private let device: OutputDevice
    private let totals: [KindTotal]

    init(_ table: ReportTable) {
        (report, context, device, totals) = (table.report, table.context, table.device, table.totals)
    }

    var lines: [String] {
        HeadingLine(report: report, context: context, device: device).lines(answer) + notes
    }

    // MARK: The answer

    private var answer: String? {
        if let comparison = ComparisonText(report) { return comparison.answer }
        guard report.totals.measures.count > 0 else { return nil }
        let shares = totals.map(share).joined(separator: " and ")
        let start = shares.capitalizedFirst
        // A narrow terminal has no room for the additional word.
        let isWide = TextWidth.of(start) + 17 < device.columns ?? .max
        let answer = start + (totals.count > 1 && isWide ? " requests failed" : " failed")
        return answer + worst(after: answer) + "."
    }

    /// The failed requests of a kind: `418 of 4,200 requests`, or, if there are both kinds, `10 of 400 outgoing` and `5 of 50 incoming`.
    private func share(_ total: KindTotal) -> String {
        let (failed, count) = (total.measures.failures.count, total.measures.count)
        let share = (failed == 0 ? "none" : FigureText.grouped(failed)) + " of "
        guard totals.count > 1 else { return share + FigureText.counted(count, "request") }
        return share + "\(FigureText.grouped(count)) \(KindTotal.title(total.kind).lowercased())"
    }

    /// The smallest width to which the name is cut, in characters. With less room, the sentence ends before the name.
    private static let shortestName = 12

    /// Returns the end of the sentence, which names the row with the most failures. It is empty if rows were left out, if there
    /// is only one row, or if rows grouped only by kind would repeat the totals. The name is cut to the room that remains on
    /// the terminal's line.
    private func worst(after answer: String) -> String {
        guard !report.isCut, report.rows.count > 1, report.by != [.kind], let row = report.worstRow else { return "" }
        let instance = instance(of: row)
        let start =
            ", \(FigureText.grouped(row.measures.failures.count)) of them \(instance == nil ? "in" : "on instance") "
        let name = instance ?? TerminalText.plain(RowName(of: report.rows, by: report.by).of(row))
        guard let columns = device.columns else { return start + name }
        let room = min(columns - TextWidth.of(answer + start) - 1, TableFit.longestTitle)
        return room < min(Self.shortestName, TextWidth.of(name)) ? "" : start + TextWidth.cut(name, to: room)
    }

    /// The characters of an instance's id that distinguish it: those before the first hyphen of a UUID.
    private static let idLength = 8

    /// Returns `376efe4c of edge` for a report by instance, with the service if the rows have it; `nil` for any other report.
    private func instance(of row: ReportRow) -> String? {
        guard report.by.contains(.instance), Set(report.by).isSubset(of: [.instance, .service]) else { return nil }
        let (id, service) = (TerminalText.plain(row.text(of: .instance)), TerminalText.plain(row.text(of: .service)))
        let short = UUID(uuidString: id) == nil ? id : String(id.prefix(Self.idLength))
        return short.isEmpty ? nil : short + (service.isEmpty ? "" : " of \(service)")
    }

    // MARK: Gaps

    private var ratesSince: String? {
        guard !report.rows.isEmpty, let since = report.ratesSince, since != report.instancesSince else { return nil }
        return "per s is counted since \(moment(since)), when the first data arrived"
    }

    private var instancesSince: String? {
        guard let since = report.instancesSince else { return nil }
        let earlier = report.by.contains(.instance) ? "have none" : "are not counted"
        return "instances are known since \(moment(since)); earlier requests \(earlier)"
    }

    private func moment(_ text: String) -> String {
        let time = TimeText.parse(text, now: 0).flatMap { time in
            context.now.map { WindowText.moment(time, now: $0) + " UTC" }
        }
        return time ?? text
    }

    private var notes: [String] {
        var notes =
            [ratesSince, instancesSince].compactMap(\.self) + report.gaps + [report.changedByRules].compactMap(\.self)
        if !report.rows.isEmpty, totals.count > 1, !report.by.contains(.kind) {
            notes.append("rows count outgoing and incoming requests together; --by kind separates them")
        }
        if !report.rows.isEmpty, report.isCut {
            notes.append("\(report.shownOfAll); totals are of all rows")
        }
        return notes + (ComparisonText(report)?.notes ?? [])
    }
}

extension Report {
    /// The row with the most failures; `nil` if nothing failed.
    var worstRow: ReportRow? {
        let worst = rows.max { $0.measures.failures.count < $1.measures.failures.count }
        return worst.flatMap { $0.measures.failures.count > 0 ? $0 : nil }
    }
}

/// The first lines above a table: the answer in a sentence, and the window and its data.
struct HeadingLine {
    let report: any WindowReport
    let context: ReportContext
    let device: OutputDevice

    /// Returns the answer. The window and its data follow on the right if the terminal has room for both.
    func lines(_ answer: String?) -> [String] {
        let parts = circumstances
        let painted = parts.map { device.paint($0.text, $0.tone) }.joined(separator: ", ")
        guard let answer else { return [painted] }
        let taken = TextWidth.of(answer) + TextWidth.of(parts.map(\.text).joined(separator: ", "))
        let room = (device.columns ?? 0) - taken
        let shown = device.paint(answer, .bold)
        return room < 4 ? [shown, painted] : [shown + String(repeating: " ", count: room) + painted]
    }

    private var circumstances: [(text: String, tone: Tone?)] {
        var parts: [(text: String, tone: Tone?)] = []
        let environments = context.flags.filter { $0.name == Dimension.environment.rawValue }.compactMap(\.value)
        if !environments.isEmpty {
            let names = environments.map { $0.isEmpty ? "no environment" : TerminalText.plain($0) }
            parts.append((names.joined(separator: " and "), .dim))
        }
        parts.append((WindowText.sentence(of: report, now: context.now), .dim))
        parts.append(completeness)
        if let latest = report.lastSeen.flatMap({ TimeText.parse($0, now: 0) }) {
            let isOff = context.now.map { WindowText.isOff(latest: latest, now: $0) } ?? false
            parts.append((WindowText.freshness(latest: latest, now: context.now), isOff ? .yellow : .dim))
        }
        return parts
    }

    private var completeness: (text: String, tone: Tone?) {
        guard let share = report.completeness else { return ("completeness unknown", .yellow) }
        guard share < 1 else { return ("nothing lost (100 %)", .green) }
        return ("incomplete (\(FigureText.completeness(share)))", .yellow)
    }
}

/// A window and the age of its data, in words.
enum WindowText {
    private static let second: UInt64 = 1_000_000_000
    private static let day = 86_400 * second

    /// Returns `09:00 to 10:00 UTC`, with the dates unless both are today.
    static func sentence(of report: any WindowReport, now: UnixNanoseconds?) -> String {
        guard let now, let from = TimeText.parse(report.from, now: now), let to = TimeText.parse(report.to, now: now)
        else { return "\(TimeText.inSeconds(report.from)) to \(TimeText.inSeconds(report.to))" }
        let isToday = from / day == now / day && to / day == now / day
        return "\(moment(from, isToday: isToday)) to \(moment(to, isToday: isToday)) UTC"
    }

    /// Returns a time of today as `13:42:10`, and any other time with its date.
    static func moment(_ time: UnixNanoseconds, now: UnixNanoseconds) -> String {
        moment(time, isToday: time / day == now / day)
    }

    private static func moment(_ time: UnixNanoseconds, isToday: Bool) -> String {
        let text = TimeText.format(time)
        let clock = text.dropFirst(11).dropLast(1)
        let short = clock.hasSuffix(":00") ? clock.dropLast(3) : clock
        return isToday ? String(short) : "\(text.prefix(10)) \(short)"
    }

    /// Returns the age of the latest data. Data from the future shows that a clock is ahead.
    static func freshness(latest: UnixNanoseconds, now: UnixNanoseconds?) -> String {
        guard let now else { return "latest \(TimeText.format(latest))" }
        guard latest > now + second else { return "latest \(FigureText.age((max(now, latest) - latest) / second)) ago" }
        return "latest \(FigureText.age((latest - now) / second)) ahead: a clock is off"
    }

    /// Whether the latest data is older than usual, or from the future.
    static func isOff(latest: UnixNanoseconds, now: UnixNanoseconds) -> Bool {
        latest > now + second || now - min(now, latest) > 60 * second
    }
}

/// The totals of outgoing and of incoming requests. A request between two services with agents is in both, so their sum would be
/// meaningless.
struct KindTotal {
    /// `nil` if there are no requests.
    var kind: RequestKind?
    var measures: RequestMeasures

    /// - Parameter only: the only kind in the report.
    static func all(of report: Report, only: RequestKind?) -> [KindTotal] {
        let kinds = RequestKind.allCases.compactMap { kind in
            report.totalsByKind[kind].map { KindTotal(kind: kind, measures: $0.measures) }
        }
        return kinds.isEmpty ? [KindTotal(kind: only, measures: report.totals.measures)] : kinds
    }

    /// The kind as an adjective for requests, at the beginning of a line.
    static func title(_ kind: RequestKind?) -> String {
        switch kind {
        case .client: "Outgoing"
        case .server: "Incoming"
        case nil: "Outgoing and incoming"
        }
    }

    var summary: String {
        let p95 = measures.latency.p95
        return FigureText.counted(measures.count, "request")
            + ", \(FigureText.percent(measures.failures.rate)) % failed"
            + (p95.isFinite ? ", p95 \(FigureText.figure(p95)) ms" : "")
            + measures.failures.notes.map { ", " + $0 }.joined()
    }
}

extension Report {
    /// Whether rows were left out.
    package var isCut: Bool { rows.count < rowCount }

    /// The number of shown rows and of all rows: `the first 14 of 40 rows`. Worse rows come before others.
    package var shownOfAll: String {
        let (shown, all) = (FigureText.grouped(UInt64(rows.count)), FigureText.grouped(UInt64(rowCount)))
        return (compare?.worse ?? 0) > 0
            ? "the first \(shown) of \(all) rows, worse ones first" : "the first \(shown) of \(all) rows"
    }
}

extension ReportRow {
    var kind: RequestKind? { RequestKind(rawValue: text(of: .kind)) }
}
