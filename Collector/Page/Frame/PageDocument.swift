import MartletReports

/// A whole document.
enum PageDocument {
    /// - Parameters:
    ///   - refresh: the seconds until the page's script asks again; `nil` if it does not.
    ///   - reload: the seconds until a browser that runs no script asks again; `nil` if it does not.
    static func html(_ title: String, refresh: Int? = nil, reload: Int? = nil, @HTMLBuilder body: () -> HTML) -> HTML {
        let content = body()
        let attributes = refresh.map { [Attribute("data-refresh", String($0))] } ?? []
        return .document(
            element("html", Attribute("lang", "en")) {
                head(title, reload: reload)
                HTML(
                    "body", attributes,
                    content: HTML.joined([
                        HTML("a", [.class("skip"), Attribute("href", "#main")], content: HTML("Skip to the content")),
                        Icon.sprite, content,
                    ]))
            })
    }

    private static func head(_ title: String, reload: Int?) -> HTML {
        element("head") {
            emptyElement("meta", Attribute("charset", "utf-8"))
            emptyElement(
                "meta", Attribute("name", "viewport"), Attribute("content", "width=device-width, initial-scale=1"))
            emptyElement("meta", Attribute("name", "color-scheme"), Attribute("content", "light dark"))
            element("title") { TerminalText.plain(title) + " – Martlet" }
            emptyElement(
                "link", Attribute("rel", "icon"), .href(PageAssets.icon.address), Attribute("type", "image/svg+xml"))
            emptyElement("link", Attribute("rel", "stylesheet"), .href(PageAssets.style.address))
            if let reload {
                element("noscript") {
                    emptyElement(
                        "meta", Attribute("http-equiv", "refresh"), Attribute("content", String(reload)))
                }
            }
            element("script", Attribute("type", "module"), Attribute("src", PageAssets.script.address.text)) {}
        }
    }
}
