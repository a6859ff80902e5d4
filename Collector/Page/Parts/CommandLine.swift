import MartletReports

/// The end of a view: the commands and the answers of the API that have the same figures.
struct CommandLine {
    var commands: [String]
    /// Titles and addresses.
    var formats: [(String, PageAddress)]

    var html: HTML {
        element("p", .class("cmd")) {
            element("span", .class("label")) { "The same in a terminal" }
            for command in commands { element("code") { command } }
            element("span", .class("formats")) {
                for (title, address) in formats { link(address) { title } }
            }
        }
    }
}

extension CommandLine {
    init(command: String, formats: [(String, PageAddress)]) { self.init(commands: [command], formats: formats) }

    /// The same report as a command and as an answer of the API.
    init(report parameters: ReportParameters) {
        let flags = parameters.commandFlags
        commands = [CommandText.text("report", flags)]
        formats = [("JSON", PageAddress("/api/v1/report", parameters.query))]
    }
}
