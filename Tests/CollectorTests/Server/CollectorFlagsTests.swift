import MartletReports
import Testing

@testable import MartletServer

@Suite struct CollectorFlagsTests {
    @Test(
        arguments: [
            ("127.0.0.1:4318", nil), ("localhost:4318", nil), ("metrics.example.com", nil), (nil, nil), ("a'b:1", nil),
            ("127.0.0.1:24318", "http://127.0.0.1:24318"), ("[::1]:24318", "http://[::1]:24318"),
        ] as [(String?, String?)])
    func commandNamesACollectorThatIsNotItsDefault(authority: String?, url: String?) {
        #expect(CollectorFlags.asking(authority, isTLS: false) == (url.map { [CommandFlag("collector", $0)] } ?? []))
    }

    @Test(
        arguments: [
            ("127.0.0.1:4318", nil, "http://127.0.0.1:4318"), ("[::1]:24318", nil, "http://[::1]:24318"),
            ("collector", nil, "http://collector"), ("metrics.example.com", "https", "https://metrics.example.com"),
            ("a'b:1", nil, nil), (nil, "https", nil),
        ] as [(String?, String?, String?)])
    func agentSendsToTheAddressThatTheReaderUsed(authority: String?, scheme: String?, address: String?) {
        #expect(CollectorFlags.address(authority, isTLS: false, forwarded: scheme) == address)
        #expect(CollectorFlags.address("web:4318", isTLS: true, forwarded: nil) == "https://web:4318")
    }

    @Test func commandUsesHTTPSForACollectorWithACertificate() {
        let flags = CollectorFlags.asking("localhost:4318", isTLS: true)
        #expect(flags == [CommandFlag("collector", "https://localhost:4318")])
    }
}
