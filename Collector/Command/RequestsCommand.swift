import ArgumentParser

struct RequestsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "requests",
        abstract: "Lists, shows and deletes the requests whose details are kept.",
        discussion: """
            Without a subcommand it lists them. The flags of the list, such as --failed and --search, are explained by \
            `martlet-collector requests list --help`.
            """,
        subcommands: [ListRequests.self, ShowRequest.self, ClearRequests.self],
        defaultSubcommand: ListRequests.self)
}
