/// The header fields of requests and responses that kept details have. Values of fields that may hold secrets are taken out
/// in every case.
public enum CapturedHeaders: Sendable, Equatable {
    /// No field.
    case none
    /// The named fields, in lower case.
    case named(Set<String>)
    /// Every field.
    case all

    /// Returns whether a field is kept. Thread-safe.
    ///
    /// - Parameter name: in any case.
    func contains(_ name: String) -> Bool {
        switch self {
        case .none: false
        case .named(let names): names.contains(name.lowercased())
        case .all: true
        }
    }

    /// The selection with its names in lower case.
    var lowercased: CapturedHeaders {
        guard case .named(let names) = self else { return self }
        return .named(Set(names.map { $0.lowercased() }))
    }
}
