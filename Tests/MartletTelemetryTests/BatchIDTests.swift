import MartletTelemetry
import Testing

@Suite struct BatchIDTests {
    @Test func aBatchIDReadsWhatItWrote() {
        let id = BatchID(instance: "0f5e-1", sequence: 42, signal: .traces)
        #expect(id.description == "0f5e-1/42/traces")
        #expect(BatchID(id.description) == id)
    }

    @Test(arguments: [
        "", "a/1", "a/b/metrics", "a/1/logs", "/1/metrics", "a b/1/metrics", "a/-1/metrics", "a/1/metrics/",
    ])
    func whatIsNoBatchIDIsRefused(text: String) {
        #expect(BatchID(text) == nil)
    }

    @Test func anInstanceOfAnyLengthIsRefused() {
        #expect(BatchID(String(repeating: "a", count: 64) + "/1/metrics") != nil)
        #expect(BatchID(String(repeating: "a", count: 65) + "/1/metrics") == nil)
    }
}
