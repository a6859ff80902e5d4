import MartletReports
import Testing

@testable import MartletServer

@Suite struct CollectorFlagsTests {
    @Test(
        arguments: [
            ("127.0.0.1:4318", nil), ("localhost:4318", nil), ("metrics.example.com", nil), (nil, nil), ("a'b:1", nil),
            ("127.0.0.1:24318", "http://127.0.0.1:24318"), ("[::1]:24318", "http://[::1]:24318"),
        ] as [(String?, String?)])
    func aCommandNamesACollectorThatItWouldNotAskAnyway(authority: String?, url: String?) {
        #expect(CollectorFlags.asking(authority, isTLS: false) == (url.map { [CommandFlag("collector", $0)] } ?? []))
    }

    @Test func aCollectorWithACertificateIsAskedOverHTTPS() {
        let flags = CollectorFlags.asking("localhost:4318", isTLS: true)
        #expect(flags == [CommandFlag("collector", "https://localhost:4318")])
    }
}
