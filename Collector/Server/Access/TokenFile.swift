import Foundation

/// A file with a token on each line. Blank lines and lines that begin with `#` do not count.
package enum TokenFile {
    /// A fault of the file, in a sentence for the person who named it. It has no part of the file.
    package struct Failure: Error, Equatable, CustomStringConvertible {
        package var description: String
    }

    package static func tokens(_ path: String) throws(Failure) -> [String] {
        guard let data = try? Data(contentsOf: URL(fileURLWithPath: path)),
            let text = String(data: data, encoding: .utf8)
        else { throw Failure(description: "\(path) is missing or cannot be read") }
        let lines = text.split(whereSeparator: \.isNewline).map { $0.trimmingCharacters(in: .whitespaces) }
        let tokens = lines.filter { !$0.isEmpty && !$0.hasPrefix("#") }
        guard !tokens.isEmpty else { throw Failure(description: "\(path) holds no token") }
        guard tokens.allSatisfy(ServerTokens.isPossible) else {
            throw Failure(description: "\(path) holds a token that is not ASCII without spaces, as header fields are")
        }
        return tokens
    }
}
