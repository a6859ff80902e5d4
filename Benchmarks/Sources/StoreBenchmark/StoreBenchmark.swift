import ArgumentParser

/// Measures the cost of a point in the collector's store: when it is stored, and when a report reads it.
@main
struct StoreBenchmark: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        subcommands: [
            StoreCommand.self, BodiesCommand.self, GenerateCommand.self, ReadCommand.self, PassCommand.self,
            DetailsCommand.self, PageCommand.self, ChurnCommand.self,
        ])
}
