/// A share of the largest figure of a column, as a thin bar under the figure that says the same.
enum ShareBar {
    static func html(_ share: Double, isBad: Bool = false) -> HTML {
        SVG.wide(isBad ? "bar bad" : "bar", height: 4, .hidden) {
            SVG.rect("rail", width: 1, height: 4, radius: 2)
            SVG.rect("fill", width: share.isFinite ? min(max(share, 0), 1) : 0, height: 4, radius: 2)
        }
    }
}
