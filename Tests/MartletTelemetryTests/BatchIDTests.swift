import MartletTelemetry
import Testing

@Suite struct BatchIDTests {
    @Test func batchIDReadsItsOwnText() {
        let id = BatchID(instance: "0f5e-1", sequence: 42, signal: .traces)
        #expect(id.description == "0f5e-1/42/traces")
        #expect(BatchID(id.description) == id)
    }

    @Test func idNamesTheFirstIntervalOfAMergedBatchAndTheHalvesOfAPart() {
        let merged = BatchID(instance: "a", sequence: 12, first: 5, part: "01", signal: .metrics)
        #expect(merged.description == "a/5-12.01/metrics")
        #expect(BatchID(merged.description) == merged)
        #expect(BatchID("a/12/metrics")?.first == 12)
    }

    @Test(arguments: [
        "a/12-5/metrics", "a/5-/metrics", "a/-5/metrics", "a/5./metrics", "a/5.2/metrics",
        "a/5.01010101010101010/metrics", "a/5-6-7/metrics", "",
        "a/1", "a/b/metrics", "a/1/logs", "/1/metrics", "a b/1/metrics", "a/-1/metrics", "a/1/metrics/",
    ])
    func invalidBatchIDIsRefused(text: String) {
        #expect(BatchID(text) == nil)
    }

    @Test func rangeAboveTheLimitIsRefused() {
        #expect(BatchID("a/1-1048576/metrics") != nil)
        #expect(BatchID("a/1-1048577/metrics") == nil)
        #expect(BatchID("a/0-18446744073709551615/metrics") == nil)
    }

    @Test func tooLongInstanceIsRefused() {
        #expect(BatchID(String(repeating: "a", count: 64) + "/1/metrics") != nil)
        #expect(BatchID(String(repeating: "a", count: 65) + "/1/metrics") == nil)
    }
}
