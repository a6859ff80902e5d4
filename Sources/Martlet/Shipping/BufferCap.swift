import Foundation

/// Keeps the batches of all instances of a service within `MARTLET_BUFFER_MAX`: the oldest makes room.
struct BufferCap {
    let service: URL
    let limit: Int

    struct Entry {
        let instance: String
        let file: BatchFile
        let url: URL
        let size: Int
        let modified: Date
    }

    var size: Int { entries().reduce(0) { $0 + $1.size } }

    /// Deletes the oldest batches until `bytes` more fit. `nil` when they never can: nothing is deleted then.
    func makeRoom(for bytes: Int) -> [Entry]? {
        guard bytes <= limit else { return nil }
        var entries = entries().sorted { ($0.modified, $0.file.sequence) < ($1.modified, $1.file.sequence) }[...]
        var size = entries.reduce(0) { $0 + $1.size }
        var evicted: [Entry] = []
        while size + bytes > limit, let oldest = entries.popFirst() {
            size -= oldest.size
            if unlink(oldest.url.path) == 0 { evicted.append(oldest) }
        }
        return evicted
    }

    private func entries() -> [Entry] {
        BufferDirectory.instances(in: service).flatMap { instance in
            let directory = service.appendingPathComponent(instance, isDirectory: true)
            let keys: Set<URLResourceKey> = [.fileSizeKey, .contentModificationDateKey]
            let urls =
                (try? FileManager.default.contentsOfDirectory(at: directory, includingPropertiesForKeys: Array(keys)))
                ?? []
            return urls.compactMap { url -> Entry? in
                guard let file = BatchFile(name: url.lastPathComponent),
                    let values = try? url.resourceValues(forKeys: keys)
                else { return nil }
                return Entry(
                    instance: instance, file: file, url: url, size: values.fileSize ?? 0,
                    modified: values.contentModificationDate ?? .distantPast)
            }
        }
    }
}
