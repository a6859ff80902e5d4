/// The reason that a store cannot be used, in a sentence for the person who named it.
package struct StorageFailure: Error, Equatable, CustomStringConvertible {
    package var description: String

    package init(_ description: String) {
        self.description = description
    }
}
