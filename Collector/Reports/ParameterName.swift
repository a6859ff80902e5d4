/// The names of a command's flags, which are those of a query's parameters.
package protocol ParameterName: RawRepresentable<String>, CaseIterable, Equatable, Sendable {
    /// The parameter that may be given more than once; `nil` if none may.
    static var repeatable: Self? { get }
}

extension ParameterName {
    package static var repeatable: Self? { nil }
}
