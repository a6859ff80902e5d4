import Foundation

/// A collector that may have a batch which it did not acknowledge, as the batch's name and the journal have it.
struct UploadPlace: Hashable, Sendable {
    /// The digest of the collector's address.
    let address: ShortDigest
    /// The digest of its store's identity; `nil` if no answer of the collector had told it when the batch was sent.
    let store: ShortDigest?

    init(address: URL, store: ShortDigest?) {
        self.address = ShortDigest(of: CollectorAddress.plain(address).absoluteString)
        self.store = store
    }

    // MARK: In a file's name

    var text: String { address.text + (store.map { "." + $0.text } ?? "") }

    /// Reads the digests of a name, which ``text`` joins with a full stop; `nil` if they are no such digests.
    init?(digests: ArraySlice<Substring>) {
        let read = digests.compactMap { ShortDigest(text: $0) }
        guard let address = read.first, read.count == digests.count, read.count <= 2 else { return nil }
        self.address = address
        store = read.count == 2 ? read[1] : nil
    }

    // MARK: In the journal

    var word: UInt64 { UInt64(address.value) << 32 | UInt64(store?.value ?? 0) }

    /// `nil` for a word that names no address.
    init?(word: UInt64) {
        guard let address = ShortDigest(value: UInt32(truncatingIfNeeded: word >> 32)) else { return nil }
        self.address = address
        store = ShortDigest(value: UInt32(truncatingIfNeeded: word))
    }
}
