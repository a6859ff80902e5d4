import MartletPrometheus
import MartletStorage
import Testing

@Suite struct PrometheusStoreTests {
    @Test func pageHasTheFiguresThatAnOperatorWatches() {
        var state = StorageState()
        (state.bytesInUse, state.maxBytes, state.logBytes) = (4096, 8192, 512)
        (state.clockJump, state.crowdedDetails, state.shedDetails, state.shedChunks) = (-7200.5, 1, 2, 3)
        (state.uncountedPoints, state.shedHours) = (4, 5)
        let text = PrometheusCollector.text(
            of: CollectorCounters(), series: 0, storeBytes: nil, store: state, freeBytes: nil, version: "1")
        let samples = text.split(separator: "\n").filter { !$0.hasPrefix("#") }
        for sample in [
            "store_used_bytes 4096", "store_limit_bytes 8192", "store_log_bytes 512", "clock_jump_seconds -7200.5",
            "early_details_total{limit=\"details\"} 1", "early_details_total{limit=\"store\"} 2",
            "early_chunks_total 3", "early_hourly_chunks_total 5", "uncounted_cumulative_points_total 4",
        ] { #expect(samples.contains { $0 == "martlet_collector_" + sample }) }
    }
}
