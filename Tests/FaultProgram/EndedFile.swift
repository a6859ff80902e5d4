import Foundation

/// How many requests have ended: as many bytes as there are in the file. A byte that was written is there whatever becomes
/// of the process.
struct EndedFile: Sendable {
    private let handle: FileHandle

    init(_ url: URL) throws {
        try Data().write(to: url)
        handle = try FileHandle(forWritingTo: url)
    }

    func add() { handle.write(Data([UInt8(ascii: ".")])) }
}
