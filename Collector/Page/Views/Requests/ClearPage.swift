import MartletReports
import MartletStorage
import MartletTelemetry

/// The page that asks for confirmation before all kept requests are deleted. The store can only delete all of them.
package struct ClearPage: Sendable {
    package static let address = PageAddress("/requests/clear")

    let pageRequest: PageRequest
    let facts: FrameData
    /// The number of all kept requests, whatever the window.
    let count: UInt64

    package init(_ pageRequest: PageRequest, in storage: some Storage) async throws {
        self.pageRequest = pageRequest
        facts = try await FrameData(pageRequest, in: storage)
        let all = RequestsQuery(window: TimeWindow(from: 0, to: .max), limit: 1)
        count = UInt64(try await storage.requests(all).count)
    }

    /// Returns the address of the list after the deletion.
    ///
    /// - Parameter removed: the number of deleted requests and spans.
    package static func address(after removed: Int, _ pageRequest: PageRequest) -> PageAddress {
        pageRequest.address(of: .requests).with(.cleared, String(removed))
    }

    package var html: HTML {
        PageFrame(pageRequest: pageRequest, facts: facts).document(
            "Clear kept requests", view: .requests, hasScope: false
        ) {
            element("nav", .class("crumbs"), .label("Path")) {
                link(pageRequest.address(of: .requests)) { "Requests" }
            }
            element("section", .class("confirm panel")) {
                element("h1") { question }
                element("p") {
                    """
                    This deletes the addresses, headers, bodies, errors and traces of all services and all times, for good. \
                    Counts, failures and latencies do not change.
                    """
                }
                Form.post(pageRequest.scoped(Self.address)) {
                    link(pageRequest.address(of: .requests), .class("button")) { "Keep them" }
                    element("button", .class("danger")) { "Clear \(requests)" }
                }
            }
            CommandLine(pageRequest, "requests clear", formats: []).html
        }
    }

    private var question: String {
        count == 0 ? "No requests are kept. Clear the spans of traces?" : "Clear the details of \(requests)?"
    }

    private var requests: String {
        switch count {
        case 0: "all spans"
        case 1: "1 request"
        default: "\(FigureText.grouped(count)) requests"
        }
    }
}
