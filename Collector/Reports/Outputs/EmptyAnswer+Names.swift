import MartletStorage
import MartletTelemetry

extension EmptyAnswer {
    /// The names of a dimension that the store has, and the one that a filter asked for.
    package struct Names: Sendable, Equatable {
        /// Names that a sentence lists.
        private static let listed = 5
        /// The dimensions whose names a person may have misspelt, the widest first.
        package static let dimensions = Dimension.ofSender + Dimension.ofRequest.filter { $0.values == .texts }

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

extension EmptyAnswer.Names {
    /// A value that a filter asks for.
    package typealias Wanted = (dimension: Dimension, value: String)

    /// Looks for a wanted name among those of the senders that filters by wider dimensions select, or if these have none, among all. A
    /// version is looked for among those of the wanted service, and not the service among those of the version.
    ///
    /// - Parameters:
    ///   - filters: all that is asked for.
    ///   - values: returns the values of the dimension from the senders that filters select; `nil` if they are too many to list.
    /// - Returns: `nil` if the names are too many to list.
    package static func find(
        _ wanted: Wanted, beside filters: [Wanted], values: ([Wanted]) async throws -> [String]?
    ) async throws -> Self? {
        let wider = dimensions.prefix { $0 != wanted.dimension }.filter(\.isOfSender)
        let senders = filters.filter { wider.contains($0.dimension) }
        guard let all = try await values([]) else { return nil }
        var names = Self(wanted.dimension, wanted: wanted.value, values: all)
        if !senders.isEmpty, let own = try await values(senders), !own.isEmpty {
            let isKnown = names.isKnown
            names = Self(wanted.dimension, wanted: wanted.value, values: own)
            names.isOnlyOfOtherSenders = isKnown && !names.isKnown
        }
        names.others = Set(filters.filter { $0.dimension == wanted.dimension }.map(\.value)).subtracting([wanted.value])
        return names
    }
}

/// The known name that somebody may have meant.
enum NearestName {
    /// Characters of a name that are compared.
    private static let longest = 64
    /// Characters of a part of a name at least.
    private static let shortestPart = 3

    /// Returns the known name with the fewest edits, or if it takes more than a third of the characters, the shortest one that has the
    /// name in it; `nil` if none has.
    static func of(_ name: String, among known: [String]) -> String? {
        let wanted = Array(name.lowercased().prefix(longest))
        let distances = known.map { (name: $0, edits: edits(from: wanted, to: Array($0.lowercased().prefix(longest)))) }
        let nearest = distances.min { ($0.edits, $0.name) < ($1.edits, $1.name) }
        if let nearest, nearest.edits <= max(1, wanted.count / 3) { return nearest.name }
        guard wanted.count >= shortestPart else { return nil }
        let whole = known.filter { $0.lowercased().prefix(longest).contains(String(wanted)) }
        return whole.min { ($0.count, $0) < ($1.count, $1) }
    }

    /// Returns the number of characters to insert, to delete or to replace (Levenshtein).
    private static func edits(from one: [Character], to other: [Character]) -> Int {
        var row = Array(0...other.count)
        for (index, character) in one.enumerated() {
            var diagonal = row[0]
            row[0] = index + 1
            for column in other.indices {
                let replaced = diagonal + (character == other[column] ? 0 : 1)
                diagonal = row[column + 1]
                row[column + 1] = min(replaced, diagonal + 1, row[column] + 1)
            }
        }
        return row[other.count]
    }
}
