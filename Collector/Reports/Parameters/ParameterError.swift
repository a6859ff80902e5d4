/// A flag that cannot be understood, in a sentence for the person who gave it.
package struct ParameterError: Error, Equatable, CustomStringConvertible {
    package var description: String

    package init(_ description: String) {
        self.description = description
    }
}
