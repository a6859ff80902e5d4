import Testing

@testable import MartletPage

@Suite struct HTMLTests {
    private func markup(_ html: HTML) -> String { String(decoding: html.bytes, as: UTF8.self) }

    @Test func textIsEscaped() {
        let html = element("td", .class("num")) { #"<script>alert("1" & '2')</script>"# }
        #expect(
            markup(html)
                == #"<td class="num">&lt;script&gt;alert(&quot;1&quot; &amp; &#39;2&#39;)&lt;/script&gt;</td>"#)
    }

    /// Swift reads a character and the joiner after it as one character, which is not `<`. A browser reads `<`.
    @Test(arguments: ["\u{301}", "\u{200d}", "\u{600}", "\u{fe0f}", "\u{20dd}", "\u{e0100}"])
    func markupFollowedByAJoinerIsEscaped(joiner: String) {
        for hostile in [
            "<\(joiner)script>", "\(joiner)<script>", "\"\(joiner) onload=x", "'\(joiner)", "&\(joiner)lt;",
        ] {
            let html = element("td", Attribute("title", hostile)) { hostile }
            let bytes = Array(markup(html).utf8)
            // The only tags are those of the cell and of the codes that this file creates.
            let tags = ["<td title=", "</td>", "<span class=", "</span>"]
            let opening = bytes.indices.filter { bytes[$0] == UInt8(ascii: "<") }
            #expect(opening.allSatisfy { start in tags.contains { bytes[start...].starts(with: $0.utf8) } })
            #expect(bytes.count { $0 == UInt8(ascii: "'") } == 0)
            #expect(bytes.count { $0 == UInt8(ascii: "\"") } % 2 == 0)
        }
    }

    @Test func invisibleCharactersAreShownAsCodes() {
        #expect(markup(HTML("a\u{202e}\u{202d}b")) == #"a<span class="code">\u{202e}\u{202d}</span>b"#)
        #expect(markup(HTML("line\nline\tend")) == "line\nline\tend")
        #expect(markup(element("p", .label("a\u{202e}")) {}) == #"<p aria-label="a\u{202e}"></p>"#)
    }

    @Test func formSendsInvisibleCharactersUnchanged() {
        let name = "a\u{200b}\u{202e}\r\"<"
        let sent = "value=\"a\u{200b}\u{202e}&#13;&quot;&lt;\""
        for field in [
            Form.hidden("service", name), Form.field("Error", .error, name),
            Form.select("Service", .service, [(name, name)], ""),
        ] { #expect(markup(field).utf8.contains(sent.utf8)) }
        #expect(markup(Form.select("Service", .service, [(name, name)], "")).contains(#">a\u{200b}\u{202e}\u{d}"#))
    }

    @Test func addressIsPercentEncoded() {
        let address = PageAddress("/endpoint").adding("endpoint", "/a b?c=\"<&'é").adding("host", "[::1]:80")
        #expect(address.text == "/endpoint?endpoint=%2Fa%20b%3Fc%3D%22%3C%26%27%C3%A9&host=%5B%3A%3A1%5D%3A80")
        #expect(PageAddress("/requests/", id: "../x?y").text == "/requests/..%2Fx%3Fy")
    }

    @Test func parameterReplacesOthersOfItsName() {
        let address = PageAddress("/").adding("service", "a").adding("service", "b").adding("since", "1h")
        #expect(address.with(.service, "c").text == "/?since=1h&service=c")
        #expect(address.with(.service, nil).text == "/?since=1h")
    }

    @Test(arguments: [Double.nan, .infinity, -.infinity, 1e300])
    func pictureSurvivesAValueThatIsNotANumber(figure: Double) {
        #expect(SVG.number(figure) == "0")
        let line = markup(TrendLine.html([1, figure, 2, nil, 3], height: 20, label: "p95"))
        #expect(!line.contains("nan") && !line.contains("inf"))
        #expect(!markup(ShareBar.html(figure)).contains("nan"))
    }
}
