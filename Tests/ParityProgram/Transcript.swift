import Foundation
import Synchronization

/// What a program saw, in the order in which it saw it.
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

    /// Where a body is cut into chunks depends on the kernel's buffers: chunks in a row are one entry.
    func note(chunk: Data, as name: String) {
        entries.withLock { entries in
            if let last = entries.indices.last, entries[last].name == name {
                entries[last].bytes?.append(chunk)
            } else {
                entries.append(Entry(name: name, text: "", bytes: Bytes(chunk)))
            }
        }
    }

    /// For the same reason, of calls in a row that tell how far a body has got only the last is kept.
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
