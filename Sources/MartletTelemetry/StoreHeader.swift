/// The header of a collector's answers that names its store. Collectors with the same one store into the same place, so a batch
/// that was sent to two of them counts once.
package enum StoreHeader {
    package static let name = "Martlet-Store"
    /// The longest identity, in bytes; a longer one is ignored.
    package static let maxLength = 64
}
