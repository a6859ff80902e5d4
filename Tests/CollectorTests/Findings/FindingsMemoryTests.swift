import Testing

@testable import MartletFindings

/// What is kept is bounded, and what is gone is forgotten.
@Suite struct FindingsMemoryTests {
    private func minute(_ name: String, _ minute: Minute) -> RowMinute {
        var slot = SlotCounts()
        slot.requests = 3
        slot.durations = [BucketCount(bucket: 30, count: 3)]
        let row = FindingRow(service: name, kind: .server, method: "GET", host: name, endpoint: "/")
        return RowMinute(row: row, minute: minute, slots: Array(repeating: slot, count: 6))
    }

    @Test func rowIsForgottenOnceItsMinutesAre() {
        var rows = RowTable(end: 1000)
        rows.take(minute("a", 999))
        let index = rows.watched
        #expect(index.count == 1)
        rows.advance(to: 1000 + FindingConstants.keptMinutes)
        rows.forgetUnused(except: Set(index))
        #expect(rows.watched == index)
        rows.advance(to: 1001 + FindingConstants.keptMinutes)
        rows.forgetUnused(except: [])
        #expect(rows.watched.isEmpty && rows.served["a"] == [])
        rows.take(minute("b", 1000 + FindingConstants.keptMinutes))
        #expect(rows.watched.count == 1)
        #expect(rows.series.count <= 2)
    }

    @Test func rowsPastTheLimitAreCounted() {
        var fleet = FleetMinute(minute: SampleFleet.begin)
        // Each service has one more row, for all that it serves.
        fleet.rows = (0..<FindingConstants.rows).map { minute("service\($0)", SampleFleet.begin) }
        var engine = FindingsEngine()
        _ = engine.tick(fleet)
        #expect(engine.unwatchedRows == FindingConstants.rows / 2)
    }

    @Test func minutesThatCannotBeAreIgnored() {
        var engine = FindingsEngine()
        for minute in [Minute.min, -1, 0, 5, .max] { #expect(engine.tick(FleetMinute(minute: minute)).isEmpty) }
        var fleet = FleetMinute(minute: SampleFleet.begin)
        fleet.rows = [minute("a", 0), minute("a", .max), minute("a", SampleFleet.begin + 1)]
        fleet.processes = [
            ReportedProcess(
                process: ProcessIdentity(service: "a", version: "1", instance: "i"), lastSeen: .nan, memory: .nan)
        ]
        #expect(engine.tick(fleet).isEmpty)
        #expect(engine.tick(FleetMinute(minute: SampleFleet.begin)).isEmpty)
    }

    @Test func serviceThatIsGoneForHoursIsNoLongerSilent() {
        let process = ProcessIdentity(service: "orders", version: "1", instance: "a")
        var fleet = SampleFleet()
        fleet.play(10, []) {
            $1.processes = [ReportedProcess(process: process, lastSeen: Double($1.minute * 60 + 50), memory: nil)]
        }
        fleet.play(10, [])
        #expect(fleet.findings().map(\.kind) == [.silent])
        fleet.play(FindingConstants.keptMinutes, [])
        #expect(fleet.findings().isEmpty)
    }

    @Test func closedEpisodesAreForgottenBeforeOpenOnes() {
        var episodes = EpisodeList()
        for index in 0..<FindingConstants.episodes + 10 {
            let number = episodes.add(.failing, at: .row(index), opened: 1000, start: 6000).number
            if index > 5 { episodes.change(number) { ($0.isOpen, $0.end) = (false, 6100) } }
        }
        episodes.forget(endedBefore: 6000)
        #expect(episodes.all.count == FindingConstants.episodes)
        #expect(episodes.all.prefix(7).map(\.number) == [0, 1, 2, 3, 4, 5, 16])
    }
}
