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
        for name in all(.kind).flatMap({ $0.split(separator: ",", omittingEmptySubsequences: false) }) {
            guard let kind = FindingKind(rawValue: String(name)) else {
                let names = FindingKind.allCases.map(\.rawValue).joined(separator: ", ")
                throw ParameterError("kind must be one of \(names)")
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
