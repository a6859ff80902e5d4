#if os(Linux)
import Foundation
import FoundationNetworking

/// When `URLSession` on Linux takes an answer for a question: it asks its delegate for credentials, or its storage, and
/// where there are none the task never ends (6.3.1).
///
/// The field is read as Foundation reads it (`HTTPMessage.swift`, `_Challenge`), mistakes included: where the two differ,
/// a request that ended would be waited for, or one that goes on would count twice.
enum AuthenticationChallenge {
    private typealias Text = Substring.UnicodeScalarView

    /// Basic with a realm is the only scheme that it knows (RFC 7617); a 401 with any other is an answer like others.
    static func isMade(by response: HTTPURLResponse) -> Bool {
        guard response.statusCode == 401, let field = response.value(forHTTPHeaderField: "WWW-Authenticate") else {
            return false
        }
        return isBasic(field)
    }

    /// `WWW-Authenticate` is a list of challenges, each with a list of parameters: both are separated by commas
    /// (RFC 9110, section 11.6.1), and so a scheme is looked for behind each of them.
    static func isBasic(_ field: String) -> Bool {
        var rest = Substring(field).unicodeScalars
        while let scheme = takeToken(&rest) {
            if scheme.lowercased() == "basic", hasRealm(rest) { return true }
            guard let comma = rest.firstIndex(of: ",") else { return false }
            rest = rest[rest.index(after: comma)...].drop { $0 == " " }
        }
        return false
    }

    /// Up to the first parameter that cannot be read.
    private static func hasRealm(_ parameters: Text) -> Bool {
        var rest = parameters
        repeat {
            rest = rest.drop { $0 == " " }
            guard let name = takeToken(&rest) else { return false }
            rest = rest.drop(while: isBlank)
            guard rest.popFirst() == "=" else { return false }
            rest = rest.drop(while: isBlank)
            guard takeValue(&rest) else { return false }
            if name.lowercased() == "realm" { return true }
            rest = rest.drop { $0 == " " }
        } while rest.popFirst() == ","
        return false
    }

    /// A token or a quoted string; `false` where there is neither.
    private static func takeValue(_ rest: inout Text) -> Bool {
        guard rest.first == "\"" else { return takeToken(&rest) != nil }
        rest.removeFirst()
        while let scalar = rest.popFirst() {
            if scalar == "\"" { return true }
            guard isText(scalar), scalar != "\\" || rest.popFirst().map(isText) == true else { return false }
        }
        return false
    }

    private static func takeToken(_ rest: inout Text) -> String? {
        let token = rest.prefix(while: isTokenPart)
        rest = rest[token.endIndex...]
        return token.isEmpty ? nil : String(token)
    }

    private static func isTokenPart(_ scalar: Unicode.Scalar) -> Bool {
        (0x20...0x7e).contains(scalar.value) && !"()<>@,;:\\\"/[]?={} ".unicodeScalars.contains(scalar)
    }

    private static func isText(_ scalar: Unicode.Scalar) -> Bool {
        scalar == "\t" || (0x20...0x7e).contains(scalar.value) || (0x80...0xff).contains(scalar.value)
    }

    private static func isBlank(_ scalar: Unicode.Scalar) -> Bool { scalar == " " || scalar == "\t" }
}
#endif
