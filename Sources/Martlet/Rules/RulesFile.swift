import Foundation

/// A file of rules, read again when it changes. Changes that keep its place, its size and its time are not seen.
struct RulesFile: Sendable {
    private let url: URL
    private var seen: Identity?

    /// The properties by which a changed file is told from the one that was read; `nil` fields for a file that is missing.
    private struct Identity: Sendable, Equatable {
        var inode: UInt64?
        var size: Int64?
        var seconds: Int?
        var nanoseconds: Int?

        init(_ url: URL) {
            var status = stat()
            guard stat(url.path, &status) == 0 else { return }
            #if canImport(Darwin)
            let time = status.st_mtimespec
            #else
            let time = status.st_mtim
            #endif
            (inode, size) = (UInt64(status.st_ino), Int64(status.st_size))
            (seconds, nanoseconds) = (Int(time.tv_sec), Int(time.tv_nsec))
        }
    }

    init(_ url: URL) {
        self.url = url
    }

    /// Returns the file's rules, or its first mistake; `nil` if it has not changed since the last call.
    mutating func readIfChanged() -> Result<[MartletRule], RuleMistake>? {
        let identity = Identity(url)
        guard identity != seen else { return nil }
        seen = identity
        do throws(RuleMistake) {
            return .success(try RuleDocument.rules(in: try text()))
        } catch {
            return .failure(error)
        }
    }

    private func text() throws(RuleMistake) -> Data {
        var status = stat()
        // Reading a pipe would wait.
        guard stat(url.path, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
            let text = try? FileHandle(forReadingFrom: url).read(upToCount: MartletLimits.rulesFile + 1)
        else { throw RuleMistake(place: "", "the file is missing or cannot be read") }
        guard text.count <= MartletLimits.rulesFile else {
            throw RuleMistake(place: "", "the file is larger than \(MartletLimits.rulesFile) bytes")
        }
        return text
    }
}
