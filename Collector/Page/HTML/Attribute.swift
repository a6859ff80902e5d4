/// An attribute of an element. Its value is escaped when the element is made.
struct Attribute: Sendable {
    let name: StaticString
    /// `nil` for an attribute that is there or not, such as `hidden`.
    let value: String?

    init(_ name: StaticString, _ value: String? = nil) {
        (self.name, self.value) = (name, value)
    }

    static func `class`(_ names: String) -> Attribute { Attribute("class", names) }

    static func id(_ id: String) -> Attribute { Attribute("id", id) }

    static func role(_ role: String) -> Attribute { Attribute("role", role) }

    /// The name of an element that has no text of its own.
    static func label(_ text: String) -> Attribute { Attribute("aria-label", text) }

    /// A link. It takes an address of the page itself alone, so that an address that a service called is never followed.
    static func href(_ address: PageAddress) -> Attribute { Attribute("href", address.text) }

    static let hidden = Attribute("aria-hidden", "true")
}
