/// One case of the matrix: a use of `URLSession`, with a note of everything that the program can see.
struct Cell: Sendable {
    let name: String
    /// Whether the cell makes many requests at once. Its notes are then compared as a multiset, and its connections are
    /// not compared.
    var isUnordered = false
    let run: @Sendable (Stage) async throws -> Void

    init(_ name: String, isUnordered: Bool = false, run: @escaping @Sendable (Stage) async throws -> Void) {
        self.name = name
        self.isUnordered = isUnordered
        self.run = run
    }

    static let all: [Cell] =
        first + kinds + sessions + redirects + challenges + interruptions + exchanges + failures + methods + crowds
        + others + rules
}
