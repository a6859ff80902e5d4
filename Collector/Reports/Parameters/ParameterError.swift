/// A flag that cannot be understood, in a sentence for the person who gave it.
package struct ParameterError: Error, Equatable, CustomStringConvertible {
    /// Begins with the name of the flag, if it is about one.
    package var description: String

    package init(_ description: String) {
        self.description = description
    }

    /// Whether the error is about the flag with a name.
    package func isAbout(_ name: String) -> Bool { description.hasPrefix(name + " ") }
}
