/// A status such as `404`, or a group of them such as `5xx`.
package enum StatusFilter: Sendable, Equatable {
    case code(Int)
    /// The first digit of the status.
    case group(Int)

    /// Returns `nil` if the text is neither.
    package init?(_ text: String) {
        if let code = Int(text), (100...999).contains(code) {
            self = .code(code)
        } else if text.count == 3, text.lowercased().hasSuffix("xx"), let digit = Int(text.prefix(1)), digit > 0 {
            self = .group(digit)
        } else {
            return nil
        }
    }

    package func matches(_ status: Int?) -> Bool {
        switch self {
        case .code(let code): status == code
        case .group(let digit): status.map { $0 / 100 == digit } ?? false
        }
    }
}
