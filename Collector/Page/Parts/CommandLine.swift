import MartletReports

/// The end of a view: the command and the answers of the API that have the same figures.
struct CommandLine {
    let command: String
    /// Titles and addresses.
    let formats: [(String, PageAddress)]

    var html: HTML {
        element("p", .class("cmd")) {
            element("span", .class("label")) { "The same in a terminal" }
            element("code") { command }
            element("span", .class("formats")) {
                for (title, address) in formats { link(address) { title } }
            }
        }
    }
}

extension CommandLine {
    /// The same report as a command and as an answer of the API.
    init(report parameters: ReportParameters) {
        let flags = parameters.commandFlags
        command = CommandText.text("report", flags)
        formats = [("JSON", PageAddress("/api/v1/report", parameters.query))]
    }
}
