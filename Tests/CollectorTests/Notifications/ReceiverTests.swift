import Testing

@testable import MartletNotifications

/// What names a receiver, and what is never said of it.
@Suite struct ReceiverTests {
    @Test func fileHasAReceiverOnEachLine() throws {
        let receivers = try Receiver.receivers(
            in: "# chat\n\nhttps://hooks.example.com/services/a-secret\n  http://127.0.0.1:8080/hook  may-post \n")
        #expect(receivers.map(\.url) == ["https://hooks.example.com/services/a-secret", "http://127.0.0.1:8080/hook"])
        #expect(receivers.map(\.token) == [nil, "may-post"])
        #expect(receivers.map(\.name) == ["hooks.example.com", "127.0.0.1:8080"])
    }

    @Test func receiversOfOneHostHaveDifferentNames() throws {
        let receivers = try ["a", "b", "a"].map { try Receiver("https://hooks.example.com/\($0)") }
        #expect(Receiver.distinct(receivers).map(\.name) == ["hooks.example.com", "hooks.example.com (2)"])
    }

    @Test(arguments: [
        ("hooks.example.com/a-secret", ReceiverError.noAddress), ("ftp://hooks.example.com/a-secret", .noAddress),
        ("https:///a-secret", .noAddress), ("https://hooks.example.com/ü-a-secret", .noAddress),
        ("https://user:a-secret@hooks.example.com/", .namesUser),
        ("https://hooks.example.com/ a-secret more", .tooManyWords), ("https://hooks.example.com/ ü", .impossibleToken),
    ])
    func faultyLineIsRefusedWithoutItsAddress(line: String, error: ReceiverError) {
        #expect(throws: error) { try Receiver.receivers(in: line) }
        #expect(!"\(error)".contains("a-secret"))
    }

    @Test func descriptionHasNoSecret() throws {
        let receiver = try Receiver("https://hooks.example.com/a-secret", token: "may-post")
        #expect("\(receiver)" == "hooks.example.com")
    }
}
