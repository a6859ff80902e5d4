import ArgumentParser
import MartletSQLiteStorage

struct Restore: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Puts a backup in the place of the store, and keeps the former store beside it.",
        discussion: "The collector must be stopped. The backup is checked first, and stays as it is.")

    @Argument(help: "The file that backup wrote.", completion: .file())
    var file: String

    @OptionGroup var store: StoreOption

    func run() throws {
        let path = try store.path()
        let former = try reportingFailure { try StoreCopy.restore(file, to: path) }
        Output.line("restored \(path)" + (former.map { "; the former store is \($0)" } ?? ""))
    }
}
