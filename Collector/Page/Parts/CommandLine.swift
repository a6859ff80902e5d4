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
    init(report parameters: ReportParameters) { self.init(reports: [("JSON", parameters)]) }

    /// The same reports as commands and as answers of the API, each answer with a title.
    init(reports: [(title: String, parameters: ReportParameters)]) {
        commands = reports.map { CommandText.text("report", $0.parameters.commandFlags) }
        formats = reports.map { ($0.title, PageAddress("/api/v1/report", $0.parameters.query)) }
    }
}
