import MartletReports

/// A page of one sentence: why there is no view.
package enum RefusalPage {
    /// Returns the page about a parameter that cannot be understood. It has the address without it, so that the others are kept.
    ///
    /// - Parameter pairs: the parameters of the address.
    package static func html(_ error: ParameterError, in pairs: [(String, String)]) -> HTML {
        let name = error.description.prefix { $0 != " " }
        let rest = pairs.filter { $0.0 != name }
        // A relative address: the query of the same view.
        let mended = rest.isEmpty ? PageAddress("?") : PageAddress("", rest.map { (name: $0.0, value: $0.1) })
        return html(
            "The address cannot be read", error.description,
            next: rest.count < pairs.count ? ("The same without \(name)", mended) : nil)
    }

    /// - Parameter next: the title and the address of a view that comes near; `nil` for none.
    package static func html(_ title: String, _ reason: String, next: (String, PageAddress)? = nil) -> HTML {
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
