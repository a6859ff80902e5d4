import MartletReports

/// A complete document.
enum PageDocument {
    /// - Parameters:
    ///   - refresh: the seconds until the page's script reloads; `nil` if it does not.
    ///   - reload: the seconds until a browser without scripts reloads; `nil` if it does not.
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

/// The files that every page loads: the style sheet, the script and the icon. They are part of the program.
package enum PageAssets {
    package struct File: Sendable {
        /// The path of the file on this server.
        package let path: String
        package let contentType: String
        package let bytes: [UInt8]

        /// The address from which pages load it. It changes with the content, so that a browser caches a file until it changes.
        let address: PageAddress
    }

    package static let all = [style, script, icon]

    static let style = File(
        path: "/martlet.css", contentType: "text/css; charset=utf-8", bytes: PackageResources.martlet_css,
        address: PageAddress("/martlet.css").adding(version: PackageResources.martlet_css))
    static let script = File(
        path: "/martlet.js", contentType: "text/javascript; charset=utf-8", bytes: PackageResources.martlet_js,
        address: PageAddress("/martlet.js").adding(version: PackageResources.martlet_js))
    static let icon = File(
        path: "/mark.svg", contentType: "image/svg+xml", bytes: PackageResources.mark_svg,
        address: PageAddress("/mark.svg").adding(version: PackageResources.mark_svg))
}

extension PageAddress {
    /// Adds a checksum of the content (FNV-1a, 64 bits).
    fileprivate func adding(version bytes: [UInt8]) -> PageAddress {
        let sum = bytes.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        return adding("v", String(sum, radix: 16))
    }
}
