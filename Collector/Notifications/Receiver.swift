import Foundation
import MartletFindings
import MartletStorage

/// A webhook that gets a message when a finding opens and when it ends.
package struct Receiver: Sendable, Equatable, CustomStringConvertible {
    /// The whole address. It may contain a secret, so it is in no text.
    let url: String
    /// Sent as `Authorization: Bearer …`; `nil` for none.
    let token: String?
    /// The host and the port, if the address names one, for the log and for metrics. If receivers share them, the others have a
    /// number as well.
    package private(set) var name: String

    package var description: String { name }

    /// - Parameter url: `http` or `https`, without a user and a password.
    package init(_ url: String, token: String? = nil) throws(ReceiverError) {
        guard url.utf8.allSatisfy(Self.isPossible), let parts = URLComponents(string: url), let host = parts.host,
            !host.isEmpty, ["http", "https"].contains(parts.scheme?.lowercased())
        else { throw .noAddress }
        guard parts.user == nil, parts.password == nil else { throw .namesUser }
        guard token?.utf8.allSatisfy(Self.isPossible) ?? true else { throw .impossibleToken }
        (self.url, self.token) = (url, token)
        name = parts.port.map { "\(host):\($0)" } ?? host
    }

    /// Whether a header field or an address may have a byte: ASCII without spaces.
    private static func isPossible(_ byte: UInt8) -> Bool { (0x21...0x7e).contains(byte) }

    /// Reads the contents of a file: on each line an address, and after a space its token if it has one. Blank lines and lines
    /// that begin with `#` are skipped.
    package static func receivers(in text: String) throws(ReceiverError) -> [Receiver] {
        var receivers: [Receiver] = []
        for line in text.split(whereSeparator: \.isNewline) {
            let words = line.split(whereSeparator: \.isWhitespace).map(String.init)
            guard let url = words.first, !url.hasPrefix("#") else { continue }
            guard words.count <= 2 else { throw .tooManyWords }
            receivers.append(try Receiver(url, token: words.count == 2 ? words[1] : nil))
        }
        return receivers
    }

    /// Returns each address once, with different names.
    package static func distinct(_ receivers: [Receiver]) -> [Receiver] {
        var urls: Set<String> = []
        var names: [String: Int] = [:]
        return receivers.filter { urls.insert($0.url).inserted }.map { receiver in
            var receiver = receiver
            let count = names[receiver.name, default: 0] + 1
            names[receiver.name] = count
            if count > 1 { receiver.name += " (\(count))" }
            return receiver
        }
    }

    func key(_ watched: WatchedFinding) -> NotificationKey {
        NotificationKey(receiver: url, environment: watched.environment, finding: watched.finding.id)
    }
}

/// A mistake in the setting of a receiver. Its text continues a sentence that begins with the setting's name, and repeats nothing
/// of the address.
package enum ReceiverError: Error, CustomStringConvertible {
    case noAddress
    case namesUser
    case impossibleToken
    case tooManyWords

    package var description: String {
        switch self {
        case .noAddress: "must be a URL, such as https://hooks.example.com/services/…"
        case .namesUser: "must be a URL without a user and a password; give a token in the file of --notify-file"
        case .impossibleToken: "must have tokens of ASCII characters"
        case .tooManyWords: "must have a URL on each line, and after a space its token if it has one"
        }
    }
}
