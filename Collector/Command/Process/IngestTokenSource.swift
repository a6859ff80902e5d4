import ArgumentParser
import MartletServer

/// The ingest tokens of the flag and of the file.
struct IngestTokenSource {
    let tokens: IngestTokens
    private let flag: String?
    private let file: String?

    /// `nil` without either.
    init?(flag: String?, file: String?) throws {
        guard flag != nil || file != nil else { return nil }
        (self.flag, self.file) = (flag, file)
        tokens = IngestTokens(try Self.read(flag, file))
    }

    /// Reads the file again. An error leaves the present tokens in use.
    func reload() throws {
        tokens.replace(with: try Self.read(flag, file))
    }

    private static func read(_ flag: String?, _ file: String?) throws -> [String] {
        try (flag.map { [$0] } ?? []) + (file.map { try TokenFile.tokens($0) } ?? [])
    }
}
