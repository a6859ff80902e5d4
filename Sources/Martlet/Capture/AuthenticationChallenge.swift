#if os(Linux)
import Foundation
import FoundationNetworking

/// The rule by which `URLSession` on Linux treats an answer as a question for credentials. It then asks its delegate or its
/// storage, and without credentials the task never ends (6.3.1).
///
/// This type reads the header field as Foundation does (`HTTPMessage.swift`, `_Challenge`), mistakes included. A difference
/// would make the agent wait for a request that ended, or count a request twice.
enum AuthenticationChallenge {
    private typealias Text = Substring.UnicodeScalarView

    /// Returns whether the response asks for credentials. `URLSession` knows only Basic with a realm (RFC 7617); a 401 with
    /// any other scheme is an ordinary answer.
    static func isMade(by response: HTTPURLResponse) -> Bool {
        guard response.statusCode == 401, let field = response.value(forHTTPHeaderField: "WWW-Authenticate") else {
            return false
        }
        return isBasic(field)
    }

    /// Returns whether a value of `WWW-Authenticate` holds a Basic challenge with a realm. The value is a list of
    /// challenges, each with a list of parameters. Commas separate both (RFC 9110, section 11.6.1), so a scheme may follow
    /// each comma.
    static func isBasic(_ field: String) -> Bool {
        var rest = Substring(field).unicodeScalars
        while let scheme = takeToken(&rest) {
            if scheme.lowercased() == "basic", hasRealm(rest) { return true }
            guard let comma = rest.firstIndex(of: ",") else { return false }
            rest = rest[rest.index(after: comma)...].drop { $0 == " " }
        }
        return false
    }

    /// Returns whether the parameters have a realm before the first parameter that cannot be read.
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

    /// Takes a token or a quoted string. Returns `false` where there is neither.
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
