/// A list of names in a sentence.
package enum NameList {
    /// Returns the first names and the number of the others, such as `a, b and c` or `a, b and 7 more`; empty if there are none.
    ///
    /// - Parameter most: names of the text at most.
    package static func text(_ names: some Collection<String>, atMost most: Int = .max) -> String {
        let more = names.count - min(names.count, most)
        let last = more > 0 ? "\(FigureText.grouped(UInt64(more))) more" : nil
        let parts = names.prefix(most) + (last.map { [$0] } ?? [])
        guard parts.count > 1, let end = parts.last else { return parts.joined() }
        return parts.dropLast().joined(separator: ", ") + " and " + end
    }
}
