import Testing

@testable import MartletPage

@Suite struct LongTextTests {
    private func markup(_ text: String, atMost bytes: Int) -> String {
        String(decoding: LongText.html(text, atMost: bytes).bytes, as: UTF8.self)
    }

    @Test func shortTextIsShownInFull() {
        #expect(markup("a<b", atMost: 3) == "a&lt;b")
        #expect(markup("", atMost: 3) == "")
    }

    @Test func longTextSaysHowMuchIsLeftOut() {
        let text = String(repeating: "x", count: 2000)
        #expect(markup(text, atMost: 4) == #"xxxx<small class="rest"> … and 1,996 more bytes</small>"#)
    }

    @Test func charactersAreNeverCutInTwo() {
        #expect(markup("é", atMost: 1) == #"<small class="rest"> … and 2 more bytes</small>"#)
    }

    @Test func removedSecretsAreMarked() {
        let mark = #"<span class="redacted">REDACTED</span>"#
        #expect(markup("REDACTED", atMost: 100) == mark)
        #expect(markup("a=REDACTED&b=REDACTED", atMost: 100) == "a=\(mark)&amp;b=\(mark)")
    }
}
