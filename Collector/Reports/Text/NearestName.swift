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
