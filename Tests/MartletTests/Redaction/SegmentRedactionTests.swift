import Testing

@testable import Martlet

@Suite struct SegmentRedactionTests {
    private let redaction = Redaction()

    @Test(arguments: [
        "/users", "/users/4711", "/orders/18446744073709551615", "/orders/4711.json", "/orders/4711:cancel", "/",
        "/files/6f9619ff-8b86-d011-b42d-00c04fc964ff", "/files/6F9619FF-8B86-D011-B42D-00C04FC964FF.pdf", "//a//",
        // These are numbers of 13, 17 and 19 digits, and card numbers with a wrong digit.
        "/1790000000000", "/40005568429876001", "/4000556842987600123", "/4111111111111112", "/1234567812345670",
    ])
    func namesNumbersAndUUIDsAreKept(path: String) {
        #expect(redaction.url("https://host" + path) == "https://host" + path)
        #expect(redaction.url(path) == path)
    }

    @Test(arguments: [
        ("/users/jane@example.com/orders", "/users/REDACTED/orders"), ("/near/52.5200,13.4050", "/near/REDACTED"),
        ("/bot123456:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw/sendMessage", "/REDACTED/sendMessage"),
        ("/photos/IMG_20240517_101200.jpg", "/photos/REDACTED.jpg"),
        ("/keys/507f1f77bcf86cd799439011:undelete", "/keys/REDACTED:undelete"),
        ("/cards/4111111111111111", "/cards/REDACTED"), ("/cards/378282246310005", "/cards/REDACTED"),
        ("/orders/184467440737095516150", "/orders/REDACTED"), ("/x/..%2fsecret", "/x/REDACTED"),
        ("/6f9619ff-8b86-d011-b42d-00c04fc964fg", "/REDACTED"), ("/a/ü", "/a/REDACTED"),
        ("/a;b=hunter2/jane@x;c=hunter2", "/a;b=REDACTED/REDACTED;c=REDACTED"),
    ])
    func otherValuesAreRemoved(path: String, expected: String) {
        #expect(redaction.url("https://host" + path) == "https://host" + expected)
        #expect(redaction.url(path) == expected)
        #expect(redaction.url(redaction.url(path)) == expected)
        #expect(redaction.message("GET https://host:80\(path) failed").hasPrefix("GET https://host:80/"))
    }

    @Test(arguments: [
        ("see https://host/users/jane@example.com, or http://h/a.", "see https://host/users/REDACTED, or http://h/a."),
        ("(https://host/a/b)", "(https://host/a/b)"), ("'https://host/a/b', x", "'https://host/a/b', x"),
        (#"{"u":"https:\/\/host\/jane@x\/b"}"#, #"{"u":"https://host/REDACTED/b"}"#),
        ("var u = 'https:\\/\\/host\\/jane@x\\/b'", "var u = 'https:\\/\\/host\\/REDACTED\\/b'"),
        ("<a href=\"https://host/jane@x/b\">", "<a href=\"https://host/REDACTED/b\">"),
        ("https://host/jane@x?a=1 b/jane@x", "https://host/REDACTED?a=REDACTED b/jane@x"),
        ("https://host/token:hunter2x", "https://host/REDACTED"),
        ("http://h/a http://h/4711", "http://h/a http://h/4711"),
    ])
    func urlsInTextAreRedactedUpToTheirPathsEnd(text: String, expected: String) {
        #expect(redaction.body(Array(text.utf8), contentType: "text/plain", isTruncated: false) == expected)
    }

    /// The first part of a value may look like a name.
    @Test func nothingIsKeptOfATruncatedSegment() {
        let text = "https://host/users/jane@example.com"
        for length in 20...text.utf8.count {
            let kept = redaction.body(text.utf8.prefix(length), contentType: "text/plain", isTruncated: true)
            #expect(kept?.contains("jan") == false, "\(kept ?? "")")
        }
    }

    @Test func segmentsAreKeptIfConfigured() {
        let redaction = Redaction(keepsSegments: true)
        let url = "https://host/bot123456:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw/sendMessage"
        #expect(redaction.url(url) == url)
        #expect(redaction.message(url) == url)
        #expect(redaction.header("Location", url + "?a=1", limit: 500) == url + "?a=REDACTED")
    }
}
