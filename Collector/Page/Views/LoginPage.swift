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
