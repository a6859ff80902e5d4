import MartletReports
import MartletStorage

/// The address of a view or of an API response: a path of this server, and parameters. It is the whole state of a page, so that a
/// copied address shows the same.
package struct PageAddress: Sendable, Equatable {
    private var path: String
    private var parameters: [(name: String, value: String)]
    /// The id of an element of the view.
    private var fragment: String?

    package static let overview = PageAddress("/")
    package static let requests = PageAddress("/requests")
    package static let endpoint = PageAddress("/endpoint")
    package static let agents = PageAddress("/agents")
    package static let map = PageAddress("/map")

    init(_ path: StaticString, _ parameters: [(name: String, value: String)] = []) {
        self.path = "\(path)"
        self.parameters = parameters
    }

    /// Creates the address of a single item, such as `/requests/k3v9`.
    init(_ folder: StaticString, id: String) {
        path = "\(folder)" + PercentEncoding.encode(id)
        parameters = []
    }

    package static func == (one: PageAddress, other: PageAddress) -> Bool { one.text == other.text }

    /// Returns the address with a parameter that replaces all others of its name. `nil` removes them.
    func with(_ name: PageParameter, _ value: String?) -> PageAddress {
        var address = self
        address.parameters.removeAll { $0.name == name.rawValue }
        if let value { address.parameters.append((name.rawValue, value)) }
        return address
    }

    /// Returns the address with one more parameter; others of its name stay.
    func adding(_ name: PageParameter, _ value: String) -> PageAddress { adding(name.rawValue, value) }

    func adding(_ name: String, _ value: String) -> PageAddress {
        var address = self
        address.parameters.append((name, value))
        return address
    }

    func with(_ flags: [(PageParameter, String?)]) -> PageAddress {
        flags.reduce(self) { $0.with($1.0, $1.1) }
    }

    /// Returns the address of an element of the view.
    func at(_ id: String) -> PageAddress {
        var address = self
        address.fragment = id
        return address
    }

    /// The path, the query and the fragment, percent-encoded (RFC 3986, sections 3.3 to 3.5).
    package var text: String {
        let query = parameters.map { PercentEncoding.encode($0.name) + "=" + PercentEncoding.encode($0.value) }
        return path + (query.isEmpty ? "" : "?" + query.joined(separator: "&"))
            + (fragment.map { "#" + PercentEncoding.encode($0) } ?? "")
    }
}

private enum PercentEncoding {
    /// Encodes all bytes but the unreserved characters (RFC 3986, section 2.3).
    static func encode(_ text: String) -> String {
        // The links of a page have tens of thousands of characters, and few need encoding.
        guard let first = text.utf8.firstIndex(where: { !isUnreserved($0) }) else { return text }
        var encoded = Array(text.utf8[..<first])
        for byte in text.utf8[first...] {
            if isUnreserved(byte) {
                encoded.append(byte)
            } else {
                encoded += [UInt8(ascii: "%"), digit(byte >> 4), digit(byte & 15)]
            }
        }
        return String(decoding: encoded, as: UTF8.self)
    }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            true
        default: false
        }
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10
    }
}

extension TimeWindow {
    /// The window in an address: from the beginning of its first second to the end of its last.
    var inWholeSeconds: TimeWindow {
        let second: UInt64 = 1_000_000_000
        return TimeWindow(from: from / second * second, to: (to + second - 1) / second * second)
    }
}
