import Foundation
import HummingbirdTesting

/// A page as markup and as text for a person.
struct ReadPage {
    let status: Int
    let markup: String

    /// The text without tags, with single spaces.
    var text: String {
        var text = markup.replacing(#/<(head|svg)[ >].*?<\/\1>/#.dotMatchesNewlines(), with: "")
        text = text.replacing(#/<[^>]*>/#, with: " ")
        for (code, character) in [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")] {
            text = text.replacing(code, with: character)
        }
        return text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }

    /// The markup without the values that forms send, because these contain all characters unchanged.
    var shown: String { markup.replacing(#/ value="[^"]*"/#, with: "") }

    /// The commands that give the same figures.
    var commands: [String] {
        markup.matches(of: #/<code>(martlet-collector [^<]*)<\/code>/#).map { String($0.1) }
    }

    /// The addresses of all links, unescaped.
    var links: [String] {
        markup.matches(of: #/href="([^"]*)"/#).map { String($0.1).replacing("&amp;", with: "&") }
    }
}

extension TestClientProtocol {
    func read(_ uri: String) async throws -> ReadPage {
        let response = try await get(uri)
        return ReadPage(status: response.status.code, markup: String(buffer: response.body))
    }
}
