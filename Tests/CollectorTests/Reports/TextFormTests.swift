import Fixtures
import Foundation
import Testing

@testable import MartletReports

/// Hostile text in each form for people and programs.
@Suite struct TextFormTests {
    @Test(arguments: [
        "\u{1b}", "\u{9b}", "\r", "\t", "\u{202e}", "\u{2066}", "\u{200b}", "\u{200d}", "\u{feff}", "\u{2028}",
        "\u{a0}",
        "\u{3164}", "\u{34f}", "\u{fe0f}", "\u{e0041}", "\u{7f}",
    ])
    func invisibleCharactersAreEscaped(character: String) throws {
        let scalar = try #require(character.unicodeScalars.first)
        #expect(TerminalText.plain("a\(character)b") == "a\\u{\(String(scalar.value, radix: 16))}b")
    }

    @Test func lettersOfEveryScriptAreUnchanged() {
        for text in ["é", "e\u{301}", "商品", "Ελλάδα", "עברית", "हिन्दी", "…", "→"] {
            #expect(TerminalText.plain(text) == text)
        }
    }

    @Test(arguments: [
        ("short", 5, "short"), ("abcdefghij", 9, "abcd…ghij"), ("abcdefghij", 4, "ab…j"), ("abcdef", 1, "…"),
        ("abcdef", 0, ""), ("商品商品商品", 7, "商品…品"), ("e\u{301}e\u{301}e\u{301}e\u{301}", 3, "e\u{301}…e\u{301}"),
    ])
    func cutNameKeepsItsBeginningAndEnd(text: String, width: Int, cut: String) {
        #expect(TextWidth.cut(text, to: width) == cut)
        #expect(TextWidth.of(cut) <= max(width, 0))
    }

    @Test(arguments: [
        ("/users/{id}", "/users/{id}"), ("a b", "\"a b\""), ("a,b", "\"a,b\""), ("a;b", "\"a;b\""),
        ("say \"hi\"", "\"say \"\"hi\"\"\""), ("=1+1", "\"'=1+1\""), ("+1", "\"'+1\""), ("-1", "\"'-1\""),
        ("@SUM(A1)", "\"'@SUM(A1)\""), ("\t=1", "\"'\\u{9}=1\""), ("\r=1", "\"'\\u{d}=1\""),
        ("\r\n=1", "\"'\\u{d}\\u{a}=1\""), ("a\nb", "\"a\\u{a}b\""), ("", ""),
    ])
    func csvCellIsNeverAFormula(text: String, cell: String) {
        #expect(CSVCell.text(text) == cell)
    }

    @Test func csvNumbersStayNumbers() {
        #expect(CSVCell.number(0.1) == "0.1")
        #expect(CSVCell.number(.greatestFiniteMagnitude) == "1.7976931348623157e+308")
        #expect(CSVCell.number(nil) == "")
    }

    @Test(arguments: [
        ("/users/{id}", "/users/{id}"), ("a|b", "a\\|b"), ("`x`", "\\`x\\`"), ("a\nb", "a\\\\u{a}b"),
        ("<script>", "&lt;script&gt;"), ("&lt;", "&amp;lt;"), ("**b**", "\\*\\*b\\*\\*"), ("[a](b)", "\\[a\\](b)"),
        ("@team", "@&#8288;team"), ("http://a", "http:&#8288;//a"), ("www.a", "www&#8288;.a"), ("\\|", "\\\\\\|"),
    ])
    func markdownCellIsNeverMarkup(text: String, cell: String) {
        #expect(MarkdownText.escaped(text) == cell)
    }

    /// A real shell reads the words.
    @Test func shellReadsAWordUnchanged() async throws {
        let words = [
            "plain", "", "a b", "/users/{id}", "it's", "$HOME `id` \\ \"", "*", "-x", "!!", "a\nb", "\u{1b}[2J",
            "\u{202e}x1",
            "'\u{200b}'\\", "é", "\u{7f}0", "~", "#", "a\u{9b}b",
        ]
        let bash = ChildProcess.Program(url: URL(fileURLWithPath: "/bin/bash"))
        for word in words {
            let quoted = ShellWord.quoted(word)
            #expect(TerminalText.plain(quoted) == quoted)
            let result = try await ChildProcess(bash, ["-c", "printf %s " + quoted]).finish()
            #expect(Array(result.output.utf8) == Array(word.utf8), "\(quoted)")
        }
    }

    @Test func valueThatBeginsWithADashIsNotAFlag() {
        let flags = [CommandFlag("endpoint", "-x"), CommandFlag("failed")]
        #expect(CommandText.text("requests", flags) == "martlet-collector requests --endpoint=-x --failed")
    }
}
