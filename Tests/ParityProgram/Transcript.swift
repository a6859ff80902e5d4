import Foundation
import Synchronization

/// The program's notes, in the order in which it made them.
final class Transcript: Sendable {
    private struct Entry {
        let name: String
        var text: String
        var bytes: Bytes?
    }

    private let entries = Mutex<[Entry]>([])

    var lines: [String] {
        entries.withLock { $0.map { "\($0.name): \($0.bytes?.description ?? $0.text)" } }
    }

    func note(_ name: String, _ value: some Any) {
        entries.withLock { $0.append(Entry(name: name, text: "\(value)")) }
    }

    /// Notes a chunk of a body. The kernel's buffers decide the sizes of chunks, so consecutive chunks become one entry.
    func note(chunk: Data, as name: String) {
        entries.withLock { entries in
            if let last = entries.indices.last, entries[last].name == name {
                entries[last].bytes?.append(chunk)
            } else {
                entries.append(Entry(name: name, text: "", bytes: Bytes(chunk)))
            }
        }
    }

    /// Notes the progress of a body. Only the last of consecutive calls is kept, because their number depends on the
    /// chunks.
    func note(progress: String, as name: String) {
        entries.withLock { entries in
            if let last = entries.indices.last, entries[last].name == name {
                entries[last].text = progress
            } else {
                entries.append(Entry(name: name, text: progress))
            }
        }
    }
}
