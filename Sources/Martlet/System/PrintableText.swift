extension String {
    /// Fit for a log: cut to so many characters, and nothing that a terminal would obey.
    func printable(upTo length: Int) -> String {
        unicodeScalars.prefix(length).map { $0.properties.generalCategory == .control ? "?" : String($0) }.joined()
    }
}
