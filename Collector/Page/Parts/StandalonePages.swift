import MartletReports
import MartletStorage

/// A page with one sentence that explains why there is no view.
package enum RefusalPage {
    /// Returns the page about a parameter that cannot be understood. It links to the address without this parameter, so that the
    /// others are kept.
    ///
    /// - Parameter pairs: the parameters of the address.
    package static func html(_ error: ParameterError, in pairs: [(String, String)]) -> HTML {
        // Error messages never quote the request, so the sentence about an unknown parameter does not contain its name.
        let names = pairs.map(\.0)
        let name = names.first(where: error.isAbout) ?? names.first { !isKnown($0) }
        return html(
            "The address is not valid", error.description,
            next: name.flatMap { same(pairs, without: window.contains($0) ? window : [$0]) })
    }

    private static func isKnown(_ name: String) -> Bool {
        PageParameter(rawValue: name) != nil || name == PageParameter.emptyFields
    }

    /// Returns the page about a list that continues after a request that is no longer kept.
    package static func html(_ error: UnknownRequest, in pairs: [(String, String)]) -> HTML {
        html(
            "Not found", error.description, next: same(pairs, without: [PageParameter.before.rawValue]))
    }

    /// The two ends of a window. If the window is wrong, both are removed.
    private static let window = [PageParameter.since.rawValue, PageParameter.until.rawValue]

    /// Returns the title and the address of the same view without the given parameters; `nil` if the address has none of them.
    private static func same(
        _ pairs: [(String, String)], without names: [String]
    ) -> (title: String, address: PageAddress)? {
        let rest = pairs.filter { !names.contains($0.0) }
        let left = names.filter { name in pairs.contains { $0.0 == name } }
        guard !left.isEmpty else { return nil }
        // A relative address: the query of the same view.
        let mended = rest.isEmpty ? PageAddress("?") : PageAddress("", rest.map { (name: $0.0, value: $0.1) })
        return ("The same without \(left.joined(separator: " and "))", mended)
    }

    /// - Parameter next: the title and the address of a similar view; `nil` for none.
    package static func html(
        _ title: String, _ reason: String, next: (title: String, address: PageAddress)? = nil
    ) -> HTML {
        PageDocument.html(title) {
            element("header", .class("top")) {
                link(PageAddress.overview, .class("brand")) {
                    Icon.mark
                    "Martlet"
                }
            }
            element("main", .id("main"), .class("refusal"), Attribute("tabindex", "-1")) {
                element("header", .class("title")) {
                    element("div") {
                        element("h1") { title }
                        element("p", .class("sub")) { reason }
                    }
                }
                if let (title, address) = next { element("p") { link(address) { title } } }
                element("p") { link(PageAddress.overview) { "Overview of the last hour" } }
            }
        }
    }
}

/// The form that asks for the read token.
package enum LoginPage {
    /// - Parameters:
    ///   - next: the address to show afterwards.
    ///   - problem: the reason why a token was refused.
    package static func html(next: String, problem: String? = nil) -> HTML {
        PageDocument.html("Sign in") {
            element("main", .id("main"), .class("login"), Attribute("tabindex", "-1")) {
                element("form", .class("panel"), Attribute("method", "post"), Attribute("action", "/login")) {
                    element("h1") {
                        Icon.mark
                        "Martlet"
                    }
                    if let problem { element("p", .class("st bad"), .role("alert")) { problem } }
                    element("label") {
                        element("span") { "Read token" }
                        emptyElement(
                            "input", Attribute("type", "password"), Attribute("name", "token"), Attribute("required"),
                            Attribute("autocomplete", "current-password"), Attribute("autofocus"))
                    }
                    emptyElement(
                        "input", Attribute("type", "hidden"), Attribute("name", "next"), .value(next))
                    element("button", .class("primary")) { "Sign in" }
                    element("p", .class("hint")) {
                        "The collector was started with "
                        element("code") { "--read-token" }
                        " or "
                        element("code") { "MARTLET_COLLECTOR_READ_TOKEN" }
                        "."
                    }
                }
            }
        }
    }
}
