import MartletReports
import MartletStorage
import MartletTelemetry

/// The failures of an endpoint by status and error.
struct FailuresTable {
    let endpoint: Endpoint
    private var list: FailureList { endpoint.failures }
    private var failed: UInt64 { endpoint.requests.failed.requests }

    var html: HTML {
        element("section", Attribute("aria-labelledby", "h-errors")) {
            element("div", .class("bar-head")) {
                element("h2", .id("h-errors")) {
                    "Errors "
                    element("span", .class("count")) { FigureText.grouped(failed) }
                }
            }
            if list.rows.isEmpty {
                element("p", .class("hint")) {
                    "None of \(FigureText.counted(endpoint.requests.count, "request")) failed."
                }
            } else {
                table
            }
            hints
        }
    }

    private var table: HTML {
        DataTable.html("grid cards errors", heading: "h-errors") {
            DataTable.head {
                DataTable.title("first", "Error")
                for title in [
                    "Requests", "Of failures %", endpoint.windowBefore.title, "First seen", "Last seen",
                ] {
                    DataTable.title("num", title)
                }
            }
            DataTable.body { for row in list.rows { html(row) } }
            DataTable.foot {
                DataTable.row {
                    DataTable.name { "All failures" }
                    DataTable.cell("requests", "num") {
                        link(endpoint.requestsAddress.with(.failed, "true")) { FigureText.grouped(failed) }
                    }
                    DataTable.cell("of failures %", "num") { "100.0" }
                    DataTable.cell(endpoint.windowBefore.text, "num") {
                        list.requestsBefore == nil ? "" : FigureText.grouped(list.failedBefore)
                    }
                    DataTable.cell("first seen", "num") {}
                    DataTable.cell("last seen", "num") {}
                }
            }
        }
    }

    private func html(_ row: FailureList.Row) -> HTML {
        let share = Double(row.count) / Double(max(1, failed))
        return DataTable.row {
            DataTable.name {
                link(address(row), .class("name")) { element("span", .class("tpl")) { row.name } }
                if list.isNew(row) {
                    " "
                    element("span", .class("tag new")) { "new" }
                }
                if let meaning = FailureText.meaning(status: row.status, error: row.error) {
                    element("span", .class("sub")) { meaning }
                }
            }
            DataTable.cell("requests", "num") { link(address(row)) { FigureText.grouped(row.count) } }
            DataTable.cell("of failures %", "num barred") {
                element("span") { FigureText.fixed(share * 100, 1) }
                ShareBar.html(share, isBad: true)
            }
            DataTable.cell(endpoint.windowBefore.text, "num") { before(row) }
            DataTable.cell("first seen", "num") { first(row) }
            DataTable.cell("last seen", "num") { moment(row.last) }
        }
    }

    private func before(_ row: FailureList.Row) -> String {
        guard let requests = list.requestsBefore else { return "" }
        return list.isNew(row) ? "0 of \(FigureText.grouped(requests))" : FigureText.grouped(row.before)
    }

    private func first(_ row: FailureList.Row) -> String {
        row.before > 0 ? "earlier" : moment(row.first)
    }

    private func moment(_ time: UnixNanoseconds?) -> String {
        time.map { ClockText.moment($0, in: endpoint.window) } ?? ""
    }

    private func address(_ row: FailureList.Row) -> PageAddress {
        endpoint.requestsAddress.with(
            [(.failed, "true"), (.status, row.status ?? ""), (.error, row.error ?? "")])
    }

    @HTMLBuilder private var hints: HTML {
        if !list.rows.isEmpty, let precision = list.precision {
            element("p", .class("hint")) {
                "First and last seen are accurate to \(FigureText.age(UInt64(precision))), the interval at which senders report."
            }
        }
        if list.more > 0 {
            element("p", .class("hint")) {
                "The \(list.rows.count) most frequent; up to \(FigureText.grouped(UInt64(list.more))) more are not shown."
            }
        }
        if let requests = list.requestsBefore, list.rows.contains(where: list.isNew) {
            element("p", .class("hint")) {
                "New: 0 of the \(FigureText.counted(requests, "request")) in the \(endpoint.windowBefore.text) "
                    + "failed this way, so the rate was then below \(FigureText.percent(list.boundOfNew)) %."
            }
        }
        if let cancelled = endpoint.totals.measures?.failures.cancelled, cancelled > 0 {
            element("p", .class("hint")) {
                "\(FigureText.counted(cancelled, "request")) cancelled by the caller, not counted as failed."
            }
        }
    }
}

/// The failed requests of a window by status and error, with the counts of the window before.
struct FailureList: Sendable {
    struct Row: Sendable {
        let status: String?
        let error: String?
        let count: UInt64
        /// The same failures in the window before.
        let before: UInt64
        /// The ends of the first and of the latest interval with such a failure.
        let first: UnixNanoseconds?
        let last: UnixNanoseconds?

        /// The error; without one, the status.
        var name: String { error.flatMap { $0.isEmpty ? nil : $0 } ?? status ?? "no answer" }
    }

    /// The most frequent first.
    let rows: [Row]
    /// The number of kinds of failures that were left out.
    let more: Int
    /// The requests of the window before, failed or not; `nil` if it cannot be compared.
    let requestsBefore: UInt64?
    let failedBefore: UInt64
    /// The length of the slots in which times of failures are known, in seconds.
    let precision: Double?

    /// - Parameters:
    ///   - answer: groups by status and error, those with the most failures first. The slots are as short as the times of failures
    ///     should be precise.
    ///   - before: the same for the window before; `nil` if it cannot be compared.
    init(_ answer: StatisticsAnswer, before: StatisticsAnswer?) {
        let earlier = Dictionary(
            (before?.groups ?? []).map { ($0.values, $0.failed.requests) }, uniquingKeysWith: +)
        rows = answer.groups.enumerated().compactMap { index, group in
            guard !group.failed.isEmpty else { return nil }
            // The figures of a whole group may come from whole hours, but those of slots do not.
            let ends = answer.slots?.groups[index].compactMap(\.ends) ?? []
            return Row(
                status: group.values[0], error: group.values[1], count: group.failed.requests,
                before: earlier[group.values] ?? 0, first: ends.first?.lowerBound, last: ends.last?.upperBound)
        }
        more = rows.count == answer.groups.count ? answer.groupCount - rows.count : 0
        precision = answer.slots.map { Double($0.grid.step) / 1e9 }
        requestsBefore = before.map { $0.totals.values.reduce(0) { $0 + $1.count } }
        failedBefore = (before?.totals ?? [:]).values.reduce(0) { $0 + $1.failed.requests }
    }

    /// Whether none of the requests in the window before failed in this way. If that window had no requests, no failure is
    /// new.
    func isNew(_ row: Row) -> Bool { row.before == 0 && (requestsBefore ?? 0) > 0 }

    /// The upper bound of a failure's share in the window before, if none of that window's requests failed in this way. With
    /// 95 % confidence, the share is below three divided by the number of requests.
    var boundOfNew: Double { min(1, 3 / Double(max(1, requestsBefore ?? 0))) }
}

/// A short explanation of a failure.
enum FailureText {
    /// - Parameters:
    ///   - status: the status of the response; `nil` if none came.
    ///   - error: `error.type`.
    /// - Returns: `nil` for a failure without a known name.
    static func meaning(status: String?, error: String?) -> String? {
        let reason = status.flatMap { reasons[$0] }
        guard let error, error != status else { return reason }
        guard let meaning = errors[error] else { return status.map { "after status \($0)" } }
        return status.map { "\(meaning), after status \($0)" } ?? meaning
    }

    /// The values of `error.type` that Martlet's agents use (docs/capture.md).
    private static let errors = [
        "dns": "the host name was not found",
        "connection_refused": "nothing was listening on the port",
        "connection_failed": "the host could not be reached",
        "connection_reset": "the connection was closed before the answer",
        "timeout": "the request or the session timed out",
        "tls": "the TLS connection failed",
        "too_many_redirects": "too many redirects",
        "invalid_request": "the request was not valid",
        "invalid_response": "the response was not valid",
        "hung": "in flight for longer than the limit",
        "_OTHER": "any other error",
    ]

    /// The reason phrases of RFC 9110, section 15, and RFC 6585.
    private static let reasons = [
        "400": "Bad Request", "401": "Unauthorized", "402": "Payment Required", "403": "Forbidden", "404": "Not Found",
        "405": "Method Not Allowed", "406": "Not Acceptable", "408": "Request Timeout", "409": "Conflict",
        "410": "Gone", "411": "Length Required", "412": "Precondition Failed", "413": "Content Too Large",
        "414": "URI Too Long", "415": "Unsupported Media Type", "416": "Range Not Satisfiable",
        "417": "Expectation Failed", "421": "Misdirected Request", "422": "Unprocessable Content",
        "426": "Upgrade Required", "428": "Precondition Required", "429": "Too Many Requests",
        "431": "Request Header Fields Too Large", "500": "Internal Server Error", "501": "Not Implemented",
        "502": "Bad Gateway", "503": "Service Unavailable", "504": "Gateway Timeout",
        "505": "HTTP Version Not Supported",
    ]
}
