import ArgumentParser

struct RequestsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "requests",
        abstract: "Lists, shows and deletes the requests whose details are kept.",
        subcommands: [ListRequests.self, ShowRequest.self, ClearRequests.self],
        defaultSubcommand: ListRequests.self)
}
