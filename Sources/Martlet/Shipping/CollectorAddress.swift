import Foundation

/// The forms of a collector's address.
enum CollectorAddress {
    /// Returns the address as it may be kept, logged and compared: without user and password, and without a `/` at the end.
    static func plain(_ address: URL) -> URL {
        guard var parts = URLComponents(url: address, resolvingAgainstBaseURL: true) else { return address }
        parts.user = nil
        parts.password = nil
        while parts.path.hasSuffix("/") { parts.path.removeLast() }
        return parts.url ?? address
    }

    static func text(_ addresses: [URL]) -> String {
        addresses.map { plain($0).absoluteString }.joined(separator: ",")
    }
}
