import Foundation
import Testing

@testable import Martlet

@Suite struct TargetRangesTests {
    @Test(arguments: [
        "http://example.com", "http://example.com/", "https://example.com/a/b", "HTTPS://Example.COM/A?b=c#d",
        "http://example.com:8080/x", "https://example.com:/x", "http://user@example.com/x",
        "http://user:pass@example.com:81/x", "http://us%40er:pa%2Fss@example.com/x", "http://[::1]/x",
        "http://[2001:db8::1]:8443/x/y", "http://u:p@[::1]:80?q=1", "http://example.com?q=/path",
        "http://example.com#/f",
        "http://example.com/a@b:c/d", "http://example.com/a%20b/%C3%BC", "http://127.0.0.1:65535/", "http:///nohost",
        "http://host//double//slash", "http://example.com/?a=1&b=2", "http://h/a;b=c",
    ])
    func partsOfAURLMatchFoundations(text: String) throws {
        let url = try #require(URL(string: text))
        let target = RequestTarget(url)
        let host = url.host(percentEncoded: true)?.lowercased() ?? ""
        #expect(target.host == host)
        #expect(target.port == url.port ?? (url.scheme?.lowercased() == "https" ? 443 : 80))
        #expect(target.path == url.path(percentEncoded: true))
    }

    /// A port is a decimal number (RFC 3986, section 3.2.3).
    @Test(arguments: [("0080", 80), ("008080", 8080), ("0000000000443", 443), ("00", 80), ("123456", 80)])
    func leadingZerosOfAPortDoNotCount(port: String, number: Int) throws {
        #expect(RequestTarget(try #require(URL(string: "http://host:\(port)/x"))).port == number)
    }

    @Test func internationalHostIsPunycoded() throws {
        #expect(
            RequestTarget(try #require(URL(string: "https://b\u{fc}cher.example/"))).host == "xn--bcher-kva.example")
    }

    @Test(arguments: ["", "x", "http:", "http:/", "http://", "://", "://@:", "mailto:a@b", "/a/b", "data:text/plain,x"])
    func textThatIsNotAServersURLRevealsNoSecret(text: String) {
        var text = text
        text.withUTF8 { bytes in
            let target = TargetRanges(of: bytes)
            #expect(!bytes[target.host].contains(UInt8(ascii: "@")))
            #expect(target.path.upperBound <= bytes.count)
        }
    }
}
