import ArgumentParser
import MartletSQLiteStorage

struct Backup: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Copies the store to a new file, even while a collector uses it.",
        discussion: """
            The copy has everything that was acknowledged when the command began, and no free pages. It can be read with \
            --store and put back with restore.
            """)

    @Argument(help: "The file to write. It must not exist.", completion: .file())
    var file: String

    @OptionGroup var store: StoreOption

    func run() throws {
        let bytes = try reportingFailure { try StoreCopy.backUp(try store.path(), to: file) }
        Output.line("wrote \(file) (\(ByteSize.text(bytes)))")
    }
}
