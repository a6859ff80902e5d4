import MartletReports

extension Figure {
    /// Returns a length of time with its unit: `12.2 ms`, `1.40 s`.
    static func duration(_ milliseconds: Double) -> String {
        milliseconds < 1000
            ? FigureText.figure(milliseconds) + " ms" : FigureText.figure(milliseconds / 1000) + " s"
    }
}
