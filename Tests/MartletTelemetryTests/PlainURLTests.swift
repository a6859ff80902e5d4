import MartletTelemetry
import Testing

@Suite struct PlainURLTests {
    @Test(arguments: [
        ("https://ada:secret@shop.example:8443/cart?q=secret#secret", "https://shop.example:8443/cart"),
        ("/cart?secret", "/cart"), ("https://shop.example", "https://shop.example"),
        ("https://ada:secret@shop.example/@cart", "https://shop.example/@cart"),
        // The accent combines with the character before it.
        ("https://shop.example/cart?\u{301}q=secret", "https://shop.example/cart"),
        ("https://ada:secret@\u{301}shop.example/", "https://\u{301}shop.example/"),
    ])
    func onlySchemeHostPortAndPathAreKept(url: String, plain: String) {
        #expect(Array(PlainURL.text(of: url).utf8) == Array(plain.utf8))
    }
}
