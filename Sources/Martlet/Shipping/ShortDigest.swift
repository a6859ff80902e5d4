import MartletTelemetry

/// A digest of an address or of a store's identity that is short enough for a file's name: one of four billion, never 0. Two
/// of the few collectors of a service have the same one by chance too rarely to matter.
struct ShortDigest: Hashable, Sendable {
    let value: UInt32

    init(of text: String) {
        value = UInt32(SHA256.hexadecimal(text.utf8).prefix(8), radix: 16).map { max($0, 1) } ?? 1
    }

    /// - Parameter store: the value of a collector's ``StoreHeader``; `nil` if it is empty or too long.
    init?(store: String) {
        guard (1...StoreHeader.maxLength).contains(store.utf8.count) else { return nil }
        self.init(of: store)
    }

    init?(value: UInt32) {
        guard value > 0 else { return nil }
        self.value = value
    }

    /// Eight hexadecimal digits.
    var text: String { String(String(0x1_0000_0000 | UInt64(value), radix: 16).dropFirst()) }

    /// Reads ``text``; `nil` for any other text.
    init?(text: some StringProtocol) {
        guard let value = UInt32(text, radix: 16) else { return nil }
        self.init(value: value)
        if self.text != text { return nil }
    }
}
