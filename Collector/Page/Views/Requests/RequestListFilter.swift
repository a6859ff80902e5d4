import MartletReports
import MartletStorage

/// A condition of the list that a person can leave out.
struct RequestListFilter: Sendable, Equatable {
    let name: PageParameter
    let value: String

    /// Returns the conditions in the order in which they were given.
    static func all(in parameters: PageParameters) -> [RequestListFilter] {
        parameters.values.compactMap { name, value in
            switch name {
            case .failed: value == "false" ? nil : RequestListFilter(name: name, value: value)
            case .slowerThan, .fasterThan, .search: RequestListFilter(name: name, value: value)
            default: Dimension(rawValue: name.rawValue).map { _ in RequestListFilter(name: name, value: value) }
            }
        }
    }

    /// The condition as a name and a value; a name alone says all of a switch.
    var words: (name: String, value: String) {
        switch name {
        case .failed: ("failed", "")
        case .slowerThan: ("slower than", Self.length(value))
        case .fasterThan: ("faster than", Self.length(value))
        case .search: ("with the text", value)
        case .kind: value == "client" ? ("made", "") : ("served", "")
        default: value.isEmpty ? ("without \(name.rawValue)", "") : (name.rawValue, value)
        }
    }

    /// Returns a length of time as it was given, but in milliseconds if it was given in nanoseconds, as a cell of a heat map
    /// does.
    private static func length(_ value: String) -> String {
        guard value.hasSuffix("ns"), let length = TimeText.nanoseconds(value) else { return value }
        return "\(HeatMap.figure(Double(length) / 1e6)) ms"
    }

    var text: String { words.value.isEmpty ? words.name : "\(words.name) \(words.value)" }

    /// Returns the first page of the list without the condition.
    func address(without visit: Visit) -> PageAddress {
        others(of: visit.parameters).reduce(visit.base) { $0.adding($1.name, $1.value) }
    }

    /// Returns the parameters without the condition, and without the place in the list.
    func others(of parameters: PageParameters) -> [(name: PageParameter, value: String)] {
        parameters.values.filter { ($0.name != name || $0.value != value) && $0.name != .before }
    }
}
