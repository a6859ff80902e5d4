import Fixtures
import Foundation
import Testing

@testable import Martlet

/// The error rates of the classification: fewer than 1 in 1,000 words is taken for a value, and fewer than 1 in 1,000
/// random texts for a word.
@Suite struct SegmentShapeTests {
    private static let samples = 20_000

    @Test(arguments: [
        ("hexadecimal", "0123456789abcdef"), ("base32", "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"),
        ("base36", "0123456789abcdefghijklmnopqrstuvwxyz"),
        ("base58", "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"),
        ("base62", "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"),
        ("base64", "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+="),
        ("base64url", "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"),
    ])
    func randomTextIsAValue(alphabet: String, characters: String) {
        var random = SeededGenerator(seed: 1)
        let characters = Array(characters.utf8)
        let names = (0..<Self.samples).count { _ in
            let length = Int.random(in: 16...200, using: &random)
            let text = (0..<length).map { _ in characters[Int.random(in: characters.indices, using: &random)] }
            return SegmentShape(of: text[...]) == .name
        }
        #expect(names * 1000 < Self.samples, "\(names) random texts of \(alphabet) passed for names")
    }

    /// The words of Debian's `wamerican`.
    private static let words: [String] = {
        let list = (try? String(contentsOfFile: "/usr/share/dict/words", encoding: .utf8)) ?? ""
        return list.split(separator: "\n").map(String.init).filter { word in
            word.utf8.count > 1 && word.utf8.allSatisfy { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) }
        }
    }()

    @Test(arguments: ["words", "hyphens", "underscores", "camel case", "capitals", "versions"])
    func wordsAreNames(spelling: String) throws {
        try #require(Self.words.count > 10_000, "a list of words")
        var random = SeededGenerator(seed: 2)
        var values: [String] = []
        for _ in 0..<Self.samples {
            let text = try Self.text(spelling, &random)
            if SegmentShape(of: Array(text.utf8)[...]) != .name { values.append(text) }
        }
        #expect(values.count * 1000 < Self.samples, "passed for values: \(values)")
    }

    private static func text(_ spelling: String, _ random: inout SeededGenerator) throws -> String {
        let number = Int.random(in: 1...20, using: &random)
        let words = try (0..<Int.random(in: 2...4, using: &random)).map { _ in
            try #require(Self.words.randomElement(using: &random))
        }
        return switch spelling {
        case "hyphens": words.joined(separator: "-")
        case "underscores": words.joined(separator: "_")
        case "camel case": words[0] + words.dropFirst().map(\.capitalized).joined()
        case "capitals": words[0].uppercased()
        case "versions": words[0] + ["-v", "v", "", "-", ".v", "_v"][number % 6] + "\(number)"
        default: words[0]
        }
    }
}
