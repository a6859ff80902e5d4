import Foundation

/// The stores of collectors, as far as their answers have told them. They decide which collectors may get a batch: a batch that
/// a collector may have goes to another one only if both have the same store, where it counts once.
struct CollectorStores {
    private var stores: [URL: ShortDigest] = [:]

    /// Notes the store that an answer names. A success without one comes from another program than Martlet's collector.
    mutating func note(_ answer: UploadAnswer, of collector: URL) {
        if let store = answer.store {
            stores[collector] = store
        } else if (200..<300).contains(answer.status) {
            stores[collector] = nil
        }
    }

    /// Returns the collectors of a list that may get a batch.
    ///
    /// - Parameter place: the collector that may have the batch; `nil` if none has.
    func collectors(of list: [URL], for place: UploadPlace?) -> [URL] {
        // With a single collector there is nothing to choose, and its address is not hashed.
        guard list.count > 1, let place, let owner = owner(of: place, in: list) else { return list }
        let store = place.store ?? stores[owner]
        return list.filter { $0 == owner || (store != nil && stores[$0] == store) }
    }

    /// Returns the place that is to be noted before a batch is sent to a collector of a list. The store of the place where it
    /// may be stays the one that counts: the batch only goes to collectors with the same.
    func place(after place: UploadPlace?, sendingTo collector: URL, of list: [URL]) -> UploadPlace {
        if let place, owner(of: place, in: list) != nil { return place }
        return UploadPlace(address: collector, store: stores[collector])
    }

    /// Returns the collector of a list that a place names. A place outside of the list does not count: a person said that the
    /// list replaces it (`MARTLET_BUFFER_ADOPT`).
    private func owner(of place: UploadPlace, in list: [URL]) -> URL? {
        list.first { UploadPlace(address: $0, store: nil).address == place.address }
    }
}
