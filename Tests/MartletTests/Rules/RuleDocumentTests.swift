import Fixtures
import Foundation
import Testing

@testable import Martlet

/// The text of a rules file, and errors in it.
@Suite struct RuleDocumentTests {
    @Test func documentedFileIsRead() throws {
        let rules = try RuleDocument.rules(in: Data(Self.example.utf8))
        #expect(rules.count == 7)
        #expect(try RuleSet(rules).names == ["payments drill", "2", "3", "4", "5", "6", "7"])
        #expect(rules[0].match.share == 0.05)
        #expect(rules[0].respond == .init(status: 503, headers: ["Retry-After": "1"], body: Data("drill".utf8)))
        #expect(rules[1].connect == "127.0.0.1:9090")
        #expect(rules[2].redirect?.absoluteString == "https://new.example.com")
        #expect(rules[3].delay == .milliseconds(400))
        #expect(rules[4].fail == .timeout)
        #expect(rules[5].block)
        #expect(rules[6].header == .init(set: ["X-Environment": "staging"], remove: ["Cookie"]))
    }

    @Test(arguments: [
        ("{ rules: [ { match: {}, block: true, blok: 1 } ] }", "rule 1, blok: unknown key"),
        ("{ rules: [ { match: { hots: 'a' }, block: true } ] }", "rule 1, match.hots: unknown key"),
        ("{ rule: [] }", "rule: unknown key"),
        ("{}", "rules: the key is missing"),
        ("{ rules: [ { block: true } ] }", "rule 1, match: the key is missing"),
        ("{ rules: [ { match: {} } ] }", "rule 1, match: the rule changes nothing"),
        ("{ rules: [ { match: {}, block: 'yes' } ] }", "rule 1, block: not true or false"),
        ("{ rules: {} }", "rules: not a list"),
        ("{ rules: [ { match: { share: '105%' }, block: true } ] }", "rule 1, match.share: \"105%\" is not a share"),
        ("{ rules: [ { match: { port: 70000 }, block: true } ] }", "rule 1, match.port: not a port"),
        ("{ rules: [ { match: { host: 'a/b' }, block: true } ] }", "rule 1, match.host: \"a/b\" is not a host"),
        ("{ rules: [ { match: { path: 'pay' }, block: true } ] }", "rule 1, match.path: \"pay\" is not a path"),
        ("{ rules: [ { match: {}, delay: 'soon' } ] }", "rule 1, delay: \"soon\" is not a duration"),
        ("{ rules: [ { match: {}, fail: 'badly' } ] }", "rule 1, fail: \"badly\" is not one of dns, "),
        ("{ rules: [ { match: {}, connect: 'host' } ] }", "rule 1, connect: \"host\" is not host:port"),
        (
            "{ rules: [ { match: {}, redirect: 'ftp://a' } ] }",
            "rule 1, redirect: \"ftp://a\" is not an http or https URL"
        ),
        ("{ rules: [ { match: {}, redirect: 'http://a/b' } ] }", "rule 1, redirect: not just a scheme, host and port"),
        ("{ rules: [ { match: {}, respond: {} } ] }", "rule 1, respond.status: the key is missing"),
        ("{ rules: [ { match: {}, respond: { status: 99 } } ] }", "rule 1, respond.status: 99 is not between"),
        (
            "{ rules: [ { match: {}, respond: { status: 204, body: 'x' } } ] }",
            "rule 1, respond.body: an answer with 204 has no body"
        ),
        (
            "{ rules: [ { match: {}, header: { set: { 'a b': 'c' } } } ] }",
            "rule 1, header.set.a b: not a name of a header field"
        ),
        (
            "{ rules: [ { match: {}, header: { set: { a: 'b\\r\\nc: d' } } } ] }",
            "rule 1, header.set.a: too long, or it has a control character"
        ),
        (
            "{ rules: [ { match: {}, header: { remove: ['Content-Length'] } } ] }",
            "rule 1, header.remove.1: the transfer itself needs this field"
        ),
        (
            "{ rules: [ { match: {}, block: true }, { match: {}, block: true, fail: 'dns' } ] }",
            "rule 2, block: a rule has one of connect, redirect, respond, fail and block, and this one has fail and block"
        ),
        ("{ rules: [ { match: {}, block: true } ", ""),
        ("not JSON", ""),
        ("", ""),
    ])
    func errorInARuleIsOneLineWithItsPlace(text: String, line: String) {
        let mistake = #expect(throws: RuleError.self) {
            _ = try RuleSet(try RuleDocument.rules(in: Data(text.utf8)))
        }
        let described = mistake?.description ?? ""
        #expect(described.hasPrefix(line))
        #expect(!described.isEmpty && !described.contains("\n"))
    }

    @Test(arguments: [
        "{\n  rules: [\n    { match: {} block: true },\n  ],\n}", "{ rules: [ /* { } */ ] ] }",
        "{ rules: [ { name: 'x\n' } ] }", "{ rules: [ { match {} } ] }", "{ rules: [ { match: , } ] }",
        "{ rules: [] } // the end\n x", "{ rules: [", "",
    ])
    func syntaxErrorIsReported(text: String) {
        let mistake = #expect(throws: RuleError.self) { _ = try RuleDocument.rules(in: Data(text.utf8)) }
        #expect(mistake?.description == "not valid JSON5")
    }

    /// The file of docs/rules.md.
    private static let example = """
        {
          rules: [
            { name: "payments drill",             // shown in reports; else its number
              match: { host: "payments.*", path: "/pay/{id}", method: "POST", share: "5%" },
              respond: { status: 503, headers: { "Retry-After": "1" }, body: "drill" } },
            { match: { host: "catalog.internal" }, connect: "127.0.0.1:9090" },
            { match: { host: "old.example.com" }, redirect: "https://new.example.com" },
            { match: { path: "/slow/*" }, delay: "400ms" },
            { match: { path: "/broken" }, fail: "timeout" },
            { match: { host: "ads.example.com" }, block: true },
            { match: {}, header: { set: { "X-Environment": "staging" }, remove: ["Cookie"] } },
          ],
        }
        """
}
