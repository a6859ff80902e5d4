import MartletStorage

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
