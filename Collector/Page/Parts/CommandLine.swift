import MartletReports

/// The end of a view: the commands and the answers of the API that have the same figures.
struct CommandLine {
    let visit: Visit
    var commands: [(subcommand: String, flags: [CommandFlag])]
    /// Titles and addresses.
    var formats: [(String, PageAddress)]

    var html: HTML {
        element("p", .class("cmd")) {
            element("span", .class("label")) { "The same in a terminal" }
            for command in commands {
                element("code") { CommandText.text(command.subcommand, command.flags + visit.collectorFlags) }
            }
            element("span", .class("formats")) {
                for (title, address) in formats { link(address) { title } }
            }
        }
    }
}

extension CommandLine {
    init(_ visit: Visit, _ subcommand: String, _ flags: [CommandFlag] = [], formats: [(String, PageAddress)]) {
        self.init(visit: visit, commands: [(subcommand, flags)], formats: formats)
    }

    /// The same report as a command and as an answer of the API.
    init(_ visit: Visit, report parameters: ReportParameters) { self.init(visit, reports: [("JSON", parameters)]) }

    /// The same reports as commands and as answers of the API, each answer with a title.
    init(_ visit: Visit, reports: [(title: String, parameters: ReportParameters)]) {
        self.visit = visit
        commands = reports.map { ("report", $0.parameters.commandFlags) }
        formats = reports.map { ($0.title, PageAddress("/api/v1/report", $0.parameters.query)) }
    }
}
