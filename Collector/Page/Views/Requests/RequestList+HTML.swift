import MartletReports
import MartletStorage

extension RequestList {
    /// The time between two looks of a browser that runs no script, in seconds.
    private static let liveSeconds = 2

    package var html: HTML {
        PageFrame(visit: visit, facts: facts).document(
            "Requests: \(visit.titleOfScope)", view: .requests, reload: isLive ? Self.liveSeconds : nil
        ) {
            cleared
            head
            RequestSearch(list: self).html
            if report.requests.isEmpty {
                EmptyRequestList(list: self).html
            } else {
                RequestRows(list: self).html
            }
            pages
            command
        }
    }

    private var cleared: HTML {
        guard let count = visit.cleared else { return .none }
        return element("aside", .class("notice"), .role("status")) {
            element("h2") {
                Icon.good.html
                switch count {
                case 0: "Nothing was kept, so nothing was deleted"
                case 1: "1 kept request or span was deleted"
                default: "\(FigureText.grouped(count)) kept requests and spans were deleted"
                }
            }
            element("p") { "The counts, failures and latencies stay as they are." }
        }
    }

    private var head: HTML {
        element("header", .class("title")) {
            element("div") {
                element("h1", .id("h-requests")) { "Requests" }
                element("p", .class("sub")) { KeptSentence(list: self).text }
            }
            element("nav", .class(isLive ? "tabs live" : "tabs"), .label("Live")) {
                tab(isLive ? "Live" : "Live tail", isCurrent: isLive, liveAddress)
                tab(isLive ? "Pause" : "Stopped", isCurrent: !isLive, visit.here.with(.live, nil))
            }
        }
    }

    private func tab(_ title: String, isCurrent: Bool, _ address: PageAddress) -> HTML {
        HTML(
            "a", (isCurrent ? [Attribute("aria-current", "true")] : []) + [.href(address)], content: HTML(title))
    }

    /// New requests appear on the first page of a window that goes on, sorted by time.
    private var liveAddress: PageAddress {
        visit.here.with([
            (.live, "on"), (.until, nil), (.refresh, nil), (.before, nil), (.sort, nil), (.ascending, nil),
        ])
    }

    private var pages: HTML {
        element("nav", .class("pages"), .label("Pages")) {
            if report.count > 0 {
                let shown = FigureText.grouped(UInt64(report.requests.count))
                element("span") { "\(shown) of \(FigureText.grouped(UInt64(report.count)))" }
                if visit.parameters[.before] != nil {
                    link(visit.here.with(.before, nil)) { firstPage }
                }
                if let next = report.next {
                    link(visit.here.with([(.before, next), (.live, nil)]), Attribute("rel", "next")) {
                        "Next page"
                        Icon.next.html
                    }
                }
                SideShape.legend
                element("span", .class("off")) { "length: duration, logarithmic" }
            }
            link(visit.scoped(ClearPage.address), .class("danger")) { "Clear kept requests…" }
        }
    }

    private var firstPage: String { order == RequestsQuery.Order() ? "Newest" : "First page" }

    private var command: HTML {
        CommandLine(
            visit, "requests", parameters.commandFlags,
            formats: [("JSON", PageAddress("/api/v1/requests", parameters.query))]
        ).html
    }
}
