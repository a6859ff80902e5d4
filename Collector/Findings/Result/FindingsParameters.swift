import MartletReports
import MartletStorage
import MartletTelemetry

/// The flags of the list of findings.
package typealias FindingsParameters = Parameters<FindingsParameter>

extension Parameters<FindingsParameter> {
    package func question(now: UnixNanoseconds) throws(ParameterError) -> FindingsQuestion {
        FindingsQuestion(window: try window(now: now), filter: try filter(), kinds: try kinds())
    }

    /// Returns the wanted kinds, which may be given as repeated parameters or separated by commas.
    private func kinds() throws(ParameterError) -> Set<FindingKind> {
        var kinds: Set<FindingKind> = []
        for text in all(.kind) { kinds.formUnion(try FindingKind.list(text, of: "kind")) }
        return kinds
    }
}

extension FindingKind {
    /// Reads kinds that are separated by commas.
    ///
    /// - Parameters:
    ///   - name: the name of the flag.
    ///   - other: a word that the flag takes instead of kinds.
    static func list(
        _ text: String, of name: String, or other: String? = nil
    ) throws(ParameterError) -> Set<FindingKind> {
        var kinds: Set<FindingKind> = []
        for word in text.split(separator: ",", omittingEmptySubsequences: false) {
            guard let kind = FindingKind(rawValue: String(word)) else {
                let names = [other].compactMap { $0 } + allCases.map(\.rawValue)
                throw ParameterError("\(name) must be one of \(names.joined(separator: ", "))")
            }
            kinds.insert(kind)
        }
        return kinds
    }
}

/// The names of the flags of the list of findings. Its dimensions are those that a finding names; its kind is not that of
/// requests.
package struct FindingsParameter: WindowParameterName {
    package static let kind = Self(known: "kind")

    package static let filters: [Dimension] = [
        .service, .environment, .method, .host, .endpoint, .version, .instance,
    ]
    package static let others = [kind]

    package var isRepeatable: Bool { self == .kind || filteredDimension != nil }

    package let rawValue: String

    package init(known text: String) { rawValue = text }
}
