import ArgumentParser

/// The cost of a point for the collector's store, when it is stored and when a report reads it.
@main
struct StoreBenchmark: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        subcommands: [
            StoreCommand.self, BodiesCommand.self, GenerateCommand.self, ReadCommand.self, PassCommand.self,
            DetailsCommand.self, PageCommand.self,
        ])
}
