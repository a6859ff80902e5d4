import Foundation
import Testing

@testable import Martlet

@Suite struct RequestSelectionTests {
    @Test(arguments: [
        ("api.example.com", true), ("API.example.com", true), ("*.example.com", true), ("example.com", false),
        ("*", true), ("api.*:8443", true), ("api.example.com:443", false), ("api.example.com:84*", true),
        ("api.example.com/users/*", true), ("api.example.com/users", false), ("*/users/*/orders", true),
        ("*:8443/*/orders", true), ("*/orders", false), ("**.com", true), ("", false),
    ])
    func patternMatchesHostPortAndPath(pattern: String, isMatch: Bool) throws {
        let url = try #require(URL(string: "https://u:p@api.example.com:8443/users/7/orders?q=/private"))
        #expect(RequestSelection(include: [pattern]).contains(url) == isMatch)
        #expect(RequestSelection(exclude: [pattern]).contains(url) == !isMatch)
    }

    @Test func excludeWins() throws {
        let selection = RequestSelection(include: ["*.example.com"], exclude: ["private.example.com"])
        #expect(selection.contains(try #require(URL(string: "http://a.example.com/"))))
        #expect(!selection.contains(try #require(URL(string: "http://private.example.com/"))))
        #expect(!selection.contains(try #require(URL(string: "http://example.org/"))))
    }

    @Test func ipv6AddressesAreWrittenAsInAURL() throws {
        let url = try #require(URL(string: "http://[::1]:8080/x"))
        #expect(RequestSelection(include: ["[::1]"]).contains(url))
        #expect(RequestSelection(include: ["[::1]:8080"]).contains(url))
        #expect(!RequestSelection(include: ["[::1]:80"]).contains(url))
    }

    @Test func hostileTextTakesLinearTime() {
        #expect(!Glob(String(repeating: "a*", count: 30) + "b").matches(String(repeating: "a", count: 2000)))
    }
}
