import MartletStorage
import MartletTelemetry

/// A value that a filter asks for.
package typealias FilterValue = (dimension: Dimension, value: String)

extension Parameters {
    /// The values that the parameters ask for, in order.
    package var filters: [FilterValue] {
        values.compactMap { name, value in name.filteredDimension.map { ($0, value) } }
    }
}

extension RequestFilter {
    init(selecting values: [FilterValue]) {
        self.init()
        for (dimension, value) in values { select(dimension, value) }
    }
}

/// A name in a filter that the store does not have.
package struct UnknownName: Sendable, Equatable, Codable {
    /// The dimensions whose names a person may misspell, the widest first.
    static let dimensions = Dimension.ofSender + Dimension.ofRequest.filter { $0.values == .texts }
    /// The most known names that are listed.
    private static let listed = 5
    /// How far back names are searched, in nanoseconds: as long as points are kept by default.
    fileprivate static let memory: UInt64 = 400 * 86_400_000_000_000
    /// The most names of a dimension. If there are more, no name is called unknown.
    fileprivate static let maxNames = 1000

    package var dimension: Dimension
    package var wanted: String
    /// The first known names, sorted. They are names of the selected senders, or of all senders if the selected ones have none.
    package var known: [String]
    package var knownCount: Int
    /// The known name that the person may have meant.
    package var nearest: String?
    /// Whether the name exists, but only at senders that other filters leave out.
    package var isOfOtherSenders = false

    private enum CodingKeys: String, CodingKey {
        case dimension, wanted, known, nearest
        case knownCount = "known_count"
        case isOfOtherSenders = "is_of_other_senders"
    }

    /// Returns `nil` if the name is known. An empty name selects requests without one, and a host may be given without its port.
    ///
    /// - Parameters:
    ///   - values: the values that the store has.
    ///   - others: names that other values of the filter probably mean. They are not suggested for this one.
    package init?(_ name: FilterValue, among values: [String], notMeaning others: Set<String> = []) {
        (dimension, wanted) = name
        var names = Set(values)
        if dimension == .host {
            for host in values {
                host.lastIndex(of: ":").map { _ = names.insert(RequestDimensions.storedHost(host[..<$0])) }
            }
            if names.contains(RequestDimensions.storedHost(wanted)) { return nil }
        }
        guard !wanted.isEmpty, !names.contains(wanted) else { return nil }
        names.remove("")
        known = Array(names.sorted().prefix(Self.listed))
        knownCount = names.count
        nearest = NearestName.of(wanted, among: Array(names.subtracting(others)))
    }

    /// Looks for a name among the senders that filters by wider dimensions select, or among all senders if the selected ones
    /// have no names. So a version is searched among those of the service, but not the service among those with the version.
    ///
    /// - Parameters:
    ///   - filters: all filters of the question.
    ///   - values: returns the dimension's values at the senders that the given filters select; `nil` if they are too many to
    ///     list.
    /// - Returns: `nil` if the name is known, or if there are too many names to list.
    static func find(
        _ name: FilterValue, with filters: [FilterValue], values: ([FilterValue]) async throws -> [String]?
    ) async throws -> UnknownName? {
        guard let place = dimensions.firstIndex(of: name.dimension), !name.value.isEmpty,
            let all = try await values([])
        else { return nil }
        let others = Set(filters.filter { $0.dimension == name.dimension && $0.value != name.value }.map(\.value))
        let unknown = UnknownName(name, among: all, notMeaning: others)
        let wider = dimensions[..<place].filter(\.isSenderAttribute)
        let senders = filters.filter { wider.contains($0.dimension) }
        guard !senders.isEmpty, let own = try await values(senders), !own.isEmpty else { return unknown }
        var ofSenders = UnknownName(name, among: own, notMeaning: others)
        ofSenders?.isOfOtherSenders = unknown == nil
        return ofSenders
    }

    /// A sentence, without its full stop, that says that the name is unknown.
    package var title: String {
        let subject = isOfOtherSenders ? "\(dimension.rawValue) of the chosen senders" : dimension.rawValue
        return "No \(subject) is called \(TerminalText.plain(wanted))"
    }

    /// A sentence, without its full stop, with the first known names; `nil` if there are none.
    package var list: String? {
        guard !known.isEmpty else { return nil }
        let more = knownCount > known.count ? ["\(knownCount - known.count) more"] : []
        let list = NameList.text(known.map(TerminalText.plain) + more)
        return knownCount == 1 ? "There is \(list)" : "There are \(list)"
    }

    /// Both sentences and the nearest name, without the last full stop.
    package var sentence: String {
        guard let list else { return "\(title), and none is known" }
        return "\(title). \(list)" + (nearest.map { "; nearest: \(TerminalText.plain($0))" } ?? "")
    }

    /// Returns the value of a parameter, with the unknown name replaced by the nearest.
    package func corrected(_ value: String, of parameter: String) -> String {
        guard let nearest else { return value }
        func name(_ name: String) -> String { name == wanted ? nearest : name }
        if parameter == dimension.rawValue { return name(value) }
        guard parameter == ReportParameter.compare.rawValue, dimension == .version,
            let versions = ComparisonBase.versions(in: value)
        else { return value }
        return ComparisonBase.versions(before: name(versions.before), after: name(versions.after)).text
    }
}

extension Storage {
    /// Returns the name if the store does not have it (``UnknownName/find(_:with:values:)``).
    package func unknownName(
        _ name: FilterValue, with filters: [FilterValue] = [], now: UnixNanoseconds
    ) async throws -> UnknownName? {
        let window = TimeWindow(from: now - min(now, UnknownName.memory), to: now)
        return try await UnknownName.find(name, with: filters) { senders in
            let filter = RequestFilter(selecting: senders)
            let query = ValuesQuery(name.dimension, window: window, filter: filter, limit: UnknownName.maxNames)
            let answer = try await values(query)
            return answer.isThereMore ? nil : answer.values
        }
    }
}

/// Finds the known name that a misspelt name probably means.
enum NearestName {
    /// The length, in characters, up to which names are compared.
    private static let longest = 64
    /// The fewest characters that count as a part of a name.
    private static let shortestPart = 3

    /// Returns the known name with the fewest edits. If it takes edits to more than a third of the characters, returns the
    /// shortest known name that contains the name; `nil` if none does.
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
