import MartletPoints
import MartletStorage
import MartletTelemetry

extension EmptyAnswer {
    /// The names of a dimension that the store has, and the one that a filter asked for.
    package struct Names: Sendable, Equatable {
        /// Names that a sentence lists.
        private static let listed = 5
        /// The dimensions whose names a person may have misspelt.
        package static let dimensions: [Dimension] = [
            .service, .environment, .method, .host, .endpoint, .version, .instance, .error, .rule,
        ]

        /// The flag's name without dashes, such as `service`.
        package var flag: String
        package var wanted: String
        package var known: [String]

        package init(flag: String, wanted: String, known: [String]) {
            self.flag = flag
            self.wanted = wanted
            self.known = known
        }

        /// - Parameter values: the values that the store has. A host may be given without its port.
        package init(_ dimension: Dimension, wanted: String, values: [String]) {
            let hosts = values.compactMap { name in
                name.lastIndex(of: ":").map { RequestDimensions.storedHost(name[..<$0]) }
            }
            self.init(flag: dimension.rawValue, wanted: wanted, known: dimension == .host ? values + hosts : values)
        }

        /// Whether the filter may select something. An empty name selects what has none.
        package var isKnown: Bool {
            wanted.isEmpty || known.contains(wanted)
                || (flag == Dimension.host.rawValue && known.contains(RequestDimensions.storedHost(wanted)))
        }

        /// The known name that a person may have meant.
        package var nearest: String? { NearestName.of(wanted, among: known) }

        /// The sentence that the name is unknown, with the known ones and the nearest, and without its full stop.
        package var sentence: String {
            let unknown = "No \(flag) is called \(TerminalText.plain(wanted))"
            guard let list else { return "\(unknown), and none is known" }
            return "\(unknown). \(list)" + (nearest.map { "; nearest: \(TerminalText.plain($0))" } ?? "")
        }

        /// The first known names as the beginning of a sentence; `nil` if there are none.
        package var list: String? {
            let names = Set(known).filter { !$0.isEmpty }
            let shown = names.sorted().prefix(Self.listed).map(TerminalText.plain)
            guard let last = shown.last else { return nil }
            let more = names.count - shown.count
            guard more == 0 else { return "There are \(shown.joined(separator: ", ")) and \(more) more" }
            guard shown.count > 1 else { return "There is \(last)" }
            return "There are \(shown.dropLast().joined(separator: ", ")) and \(last)"
        }
    }
}
