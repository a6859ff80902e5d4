/// The statuses that a filter's value stands for.
package enum StatusPattern: Sendable, Equatable {
    /// Requests without a response.
    case none
    /// One status, such as `404`.
    case code(Int)
    /// All statuses of a class (RFC 9110, section 15), such as `5xx`.
    case group(Int)

    /// Returns `nil` if the text is neither empty, nor a status, nor a class of statuses.
    package init?(_ text: String) {
        if text.isEmpty {
            self = .none
        } else if let code = Int(text), text.utf8.count == 3, (100...999).contains(code) {
            self = .code(code)
        } else if text.utf8.count == 3, text.lowercased().hasSuffix("xx"), let digit = Int(text.prefix(1)),
            (1...5).contains(digit)
        {
            self = .group(digit)
        } else {
            return nil
        }
    }

    package func matches(_ status: Int?) -> Bool {
        switch self {
        case .none: status == nil
        case .code(let code): status == code
        case .group(let digit): status.map { $0 / 100 == digit } ?? false
        }
    }
}
