/// One case of the matrix: what a program does with `URLSession`, noting everything that it can see.
struct Cell: Sendable {
    let name: String
    /// Many requests at once: what was seen is compared as a multiset, connections are not.
    var isUnordered = false
    let run: @Sendable (Stage) async throws -> Void

    init(_ name: String, isUnordered: Bool = false, run: @escaping @Sendable (Stage) async throws -> Void) {
        self.name = name
        self.isUnordered = isUnordered
        self.run = run
    }

    static let all: [Cell] =
        first + kinds + sessions + redirects + challenges + interruptions + exchanges + failures + methods + crowds
        + others
}
