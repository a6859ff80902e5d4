/// Returns an element with content.
func element(_ name: StaticString, _ attributes: Attribute..., @HTMLBuilder content: () -> HTML) -> HTML {
    HTML(name, attributes, content: content())
}

/// Returns an element with attributes that are put together elsewhere.
func element(_ name: StaticString, _ attributes: [Attribute], @HTMLBuilder content: () -> HTML) -> HTML {
    HTML(name, attributes, content: content())
}

/// Returns an element that never has content, such as `input`.
func emptyElement(_ name: StaticString, _ attributes: Attribute...) -> HTML {
    HTML(name, attributes, content: nil)
}

func link(
    _ address: PageAddress, _ attributes: Attribute..., @HTMLBuilder content: () -> HTML
) -> HTML {
    HTML("a", [.href(address)] + attributes, content: content())
}

/// Returns a link to an element of the same page.
func jump(to id: String, _ attributes: Attribute..., @HTMLBuilder content: () -> HTML) -> HTML {
    HTML("a", [Attribute("href", "#" + id)] + attributes, content: content())
}

/// Puts pieces and texts one after the other.
@resultBuilder enum HTMLBuilder {
    static func buildExpression(_ piece: HTML) -> HTML { piece }
    static func buildExpression(_ text: String) -> HTML { HTML(text) }
    static func buildExpression(_ pieces: [HTML]) -> HTML { HTML.joined(pieces) }
    static func buildBlock(_ pieces: HTML...) -> HTML { HTML.joined(pieces) }
    static func buildOptional(_ piece: HTML?) -> HTML { piece ?? .none }
    static func buildEither(first piece: HTML) -> HTML { piece }
    static func buildEither(second piece: HTML) -> HTML { piece }
    static func buildArray(_ pieces: [HTML]) -> HTML { HTML.joined(pieces) }
}
