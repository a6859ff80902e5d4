extension String {
    /// Returns the text fit for a log: cut to `length` Unicode scalars, with a `?` for each control character, which a
    /// terminal might obey.
    func printable(upTo length: Int) -> String {
        unicodeScalars.prefix(length).map { $0.properties.generalCategory == .control ? "?" : String($0) }.joined()
    }
}
