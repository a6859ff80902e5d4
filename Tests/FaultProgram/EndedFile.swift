import Foundation

/// The number of requests that have ended, kept as the size of a file: a byte for each. A written byte survives the
/// process.
struct EndedFile: Sendable {
    private let handle: FileHandle

    init(_ url: URL) throws {
        try Data().write(to: url)
        handle = try FileHandle(forWritingTo: url)
    }

    func add() { handle.write(Data([UInt8(ascii: ".")])) }
}
