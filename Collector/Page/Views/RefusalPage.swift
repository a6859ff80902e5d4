/// A page of one sentence: why there is no view.
package enum RefusalPage {
    package static func html(_ title: String, _ reason: String) -> HTML {
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
                element("p") { link(PageAddress.overview) { "Overview of the last hour" } }
            }
        }
    }
}
