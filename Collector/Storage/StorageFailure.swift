/// The reason that a store cannot be used, in a sentence for the person who named it.
package struct StorageFailure: Error, Equatable, CustomStringConvertible {
    package var description: String
    /// Whether it would not have happened with more room on the disk.
    package var isOfFullDisk: Bool

    package init(_ description: String, isOfFullDisk: Bool = false) {
        self.description = description
        self.isOfFullDisk = isOfFullDisk
    }
}
