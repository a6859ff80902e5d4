/// A symbol next to a word. It never appears without the word, so screen readers skip it.
enum Icon: String, CaseIterable {
    case up, down, same, few, failed, good, part, next

    var html: HTML {
        element(
            "svg", .class("i"), Attribute("width", "12"), Attribute("height", "12"), Attribute("viewBox", "0 0 12 12"),
            .hidden
        ) { element("use", Attribute("href", "#\(rawValue)")) {} }
    }

    /// The shapes of all symbols, once in each page.
    static var sprite: HTML {
        element("svg", .class("sprite"), Attribute("width", "0"), Attribute("height", "0"), .hidden) {
            element("symbol", .id("mark"), Attribute("viewBox", "0 0 24 24")) {
                element("path", Attribute("fill-rule", "evenodd"), Attribute("d", martlet)) {}
            }
            for icon in allCases {
                element("symbol", .id(icon.rawValue), Attribute("viewBox", "0 0 12 12")) { path(icon.shape) }
            }
            element(
                "pattern", .id("hatch"), Attribute("width", "4"), Attribute("height", "4"),
                Attribute("patternUnits", "userSpaceOnUse"), Attribute("patternTransform", "rotate(45)")
            ) {
                element("rect", .class("hatch-a"), Attribute("width", "4"), Attribute("height", "4")) {}
                element("rect", .class("hatch-b"), Attribute("width", "1.75"), Attribute("height", "4")) {}
            }
        }
    }

    static var mark: HTML {
        element("svg", Attribute("width", "22"), Attribute("height", "22"), Attribute("viewBox", "0 0 24 24"), .hidden)
        {
            element("use", Attribute("href", "#mark")) {}
        }
    }

    private static func path(_ shape: String) -> HTML { element("path", Attribute("d", shape)) {} }

    /// A martlet, a bird without feet. The page's icon shows the same one.
    private static let martlet = """
        M.6 9 4 7.6C4.6 5 6.500 3.400 9 3.500c2.300.1 3.800 1.400 4.800 3.200 1.300 2.300 3.300 3.900 9.600 8.400l-4.500.2 \
        2.300 4.800-6.300-3.500-1.100 3.600-2-2.900-1.700 3.100-1.600-3.600C5.800 15.500 3.900 13.300 4 10.200Zm7.200-2.500a1 1 \
        0 1 0 .1 0ZM9.200 9.300c.2 3.600 2.900 5.600 7.700 5.100-3.600-.8-6.100-2.400-7.700-5.100Z
        """

    private var shape: String {
        switch self {
        case .up: "M6 2 11 10H1Z"
        case .down: "M6 10 1 2H11Z"
        case .same: "M2 4H10V5.500H2ZM2 7H10V8.500H2Z"
        case .few: "M1.500 5H3.500V7H1.500ZM5 5H7V7H5ZM8.500 5H10.500V7H8.500Z"
        case .failed: "M6 1A5 5 0 0 1 6 11 5 5 0 0 1 6 1ZM5.200 3V6.800H6.800V3ZM5.200 7.600V9.100H6.800V7.600Z"
        case .good: "M4.700 9.700 1 6 2.200 4.800 4.700 7.200 9.800 2.200 11 3.400Z"
        case .part: "M6 1A5 5 0 0 1 6 11 5 5 0 0 1 6 1ZM6 2.400V9.600A3.600 3.600 0 0 0 6 2.400Z"
        case .next: "M4 1.500 8.500 6 4 10.500 2.900 9.400 6.300 6 2.900 2.600Z"
        }
    }
}
