import MartletPoints
import MartletStorage
import MartletTelemetry

extension EmptyAnswer {
    /// The names of a dimension that the store has, and the one that a filter asked for.
    package struct Names: Sendable, Equatable {
        /// Names that a sentence lists.
        private static let listed = 5
        /// The dimensions whose names a person may have misspelt, the widest first.
        package static let dimensions: [Dimension] = [
            .service, .environment, .version, .instance, .method, .host, .endpoint, .error, .rule,
        ]

        /// The flag's name without dashes, such as `service`.
        package var flag: String
        package var wanted: String
        package var known: [String]
        /// Whether the wanted name is known, but not from the senders that other filters select.
        package var isOnlyOfOtherSenders = false
        /// Names that are asked for beside this one, so it does not mean one of them.
        package var others: Set<String> = []

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
        package var nearest: String? { NearestName.of(wanted, among: known.filter { !others.contains($0) }) }

        /// The things among which the name was looked for, such as `version`.
        package var subject: String { isOnlyOfOtherSenders ? "\(flag) of the chosen senders" : flag }

        /// The sentence that the name is unknown, with the known ones and the nearest, and without its full stop.
        package var sentence: String {
            let unknown = "No \(subject) is called \(TerminalText.plain(wanted))"
            guard let list else { return "\(unknown), and none is known" }
            return "\(unknown). \(list)" + (nearest.map { "; nearest: \(TerminalText.plain($0))" } ?? "")
        }

        /// The first known names as the beginning of a sentence; `nil` if there are none.
        package var list: String? {
            let names = Set(known).filter { !$0.isEmpty }.sorted()
            guard !names.isEmpty else { return nil }
            let list = NameList.text(names.map(TerminalText.plain), atMost: Self.listed)
            return names.count == 1 ? "There is \(list)" : "There are \(list)"
        }
    }
}
