import ArgumentParser

/// What the collector's store takes for a point that it stores, and for those that a report reads.
@main
struct StoreBenchmark: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        subcommands: [StoreCommand.self, BodiesCommand.self, GenerateCommand.self, ReadCommand.self, PassCommand.self])
}
