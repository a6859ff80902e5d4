import MartletStorage

/// The names of a command's flags, which are those of a query's parameters.
package protocol ParameterName: RawRepresentable<String>, CaseIterable, Equatable, Sendable {
    /// Whether the parameter may be given more than once.
    var isRepeatable: Bool { get }
    /// Whether a command takes it without a value.
    var isSwitch: Bool { get }
}

extension ParameterName {
    /// The dimension that the parameter filters by, which has its name; `nil` if it is no filter.
    package var filteredDimension: Dimension? { Dimension(rawValue: rawValue) }

    package var isRepeatable: Bool { filteredDimension != nil }

    package var isSwitch: Bool { false }
}
