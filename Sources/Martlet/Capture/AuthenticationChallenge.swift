#if os(Linux)
import Foundation
import FoundationNetworking

/// When `URLSession` on Linux takes an answer for a question: it asks its delegate for credentials, or its storage, and
/// where there are none the task never ends (6.3.1).
enum AuthenticationChallenge {
    /// Basic with a realm is the only scheme that it knows (RFC 7617); a 401 with any other is an answer like others.
    static func isMade(by response: HTTPURLResponse) -> Bool {
        guard response.statusCode == 401, let field = response.value(forHTTPHeaderField: "WWW-Authenticate") else {
            return false
        }
        return isBasic(field)
    }

    /// `WWW-Authenticate` is a list of challenges, each with a list of parameters: both are separated by commas
    /// (RFC 9110, section 11.6.1).
    static func isBasic(_ field: String) -> Bool {
        field.lowercased().split(separator: ",").map { $0.drop { $0 == " " } }.contains { part in
            guard part.hasPrefix("basic ") else { return false }
            return part.dropFirst("basic ".count).drop { $0 == " " }.hasPrefix("realm")
        }
    }
}
#endif
