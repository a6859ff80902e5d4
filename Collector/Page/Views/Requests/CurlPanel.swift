import MartletReports
import MartletTelemetry

/// The request as a command that sends it again.
struct CurlPanel {
    /// Bytes of a command that is shown. One that is cut would send something else.
    private static let maxBytes = 65_536

    let report: RequestReport

    var html: HTML {
        guard let command = CurlCommand.text(of: report) else { return .none }
        let isShort = command.utf8.count <= Self.maxBytes
        return element("section", .class("panel"), Attribute("aria-labelledby", "h-curl")) {
            element("div", .class("bar-head")) {
                element("h2", .id("h-curl")) { "As curl" }
                if isShort {
                    element("button", Attribute("type", "button"), Attribute("data-copy", "#curl")) { "Copy" }
                }
            }
            if command.contains(SpanSecrets.placeholder) { gaps }
            if isShort {
                element("pre", .id("curl"), .class("select"), Attribute("tabindex", "0")) { command }
            } else {
                element("p", .class("hint")) {
                    """
                    The command has \(FigureText.grouped(UInt64(command.utf8.count))) bytes. The command below prints it.
                    """
                }
            }
        }
    }

    private var gaps: HTML {
        element("p", .class("hint")) {
            "What was taken out stands as "
            element("code") { SpanSecrets.placeholder }
            ". Put your own in before you send it."
        }
    }
}
