/// An attribute of an element. Its value is escaped when the element is made.
struct Attribute: Sendable {
    let name: StaticString
    /// `nil` for an attribute that is there or not, such as `hidden`.
    let value: String?
    /// Whether a browser gets all characters as they are. In any other attribute those that are not seen are written as codes.
    let isExact: Bool

    init(_ name: StaticString, _ value: String? = nil) { self.init(name, value, isExact: false) }

    private init(_ name: StaticString, _ value: String?, isExact: Bool) {
        (self.name, self.value, self.isExact) = (name, value, isExact)
    }

    /// The value that a form sends.
    static func value(_ value: String) -> Attribute { Attribute("value", value, isExact: true) }

    static func `class`(_ names: String) -> Attribute { Attribute("class", names) }

    static func id(_ id: String) -> Attribute { Attribute("id", id) }

    static func role(_ role: String) -> Attribute { Attribute("role", role) }

    /// The name of an element that has no text of its own.
    static func label(_ text: String) -> Attribute { Attribute("aria-label", text) }

    /// A link. It takes an address of the page itself alone, so that an address that a service called is never followed.
    static func href(_ address: PageAddress) -> Attribute { Attribute("href", address.text) }

    static let hidden = Attribute("aria-hidden", "true")
}
