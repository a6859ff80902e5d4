import Fixtures
import Foundation

@testable import MartletFindings

/// A small fleet in code: rows with traffic that a test changes, minute by minute. The same seed gives the same fleet.
struct SampleFleet {
    /// The requests of a row in a slot.
    struct Traffic {
        var row: FindingRow
        /// Requests in 10 s.
        var rate = 20.0
        var failing = 0.0
        /// The median of durations, in seconds.
        var seconds = 0.02
        var hung: UInt32 = 0
        /// The status of failures, if they have one of 4xx.
        var status: Int?
        /// The share of requests, and of the failures, that version 2 has.
        var shareOfVersion2 = 0.5
        var failuresOfVersion2 = 0.5
        /// Seconds that a request waits in the client's process.
        var queue = 0.001
    }

    static let begin: Minute = 29_000_000
    /// Late points arrive this many minutes after their minute; none if 0.
    var minutesLate = 0
    private(set) var engine = FindingsEngine()
    private(set) var minute = begin - 1
    private var random: SeededGenerator
    private var late: [RowMinute] = []
    private var traffic: [FindingRow: Traffic] = [:]

    init(seed: UInt64 = 1) { random = SeededGenerator(seed: seed) }

    /// The number of minutes that were played.
    var minutes: Int { minute + 1 - Self.begin }

    /// Plays minutes.
    ///
    /// - Parameter change: changes a minute before it is taken; its number counts from 0.
    mutating func play(_ count: Int, _ traffic: [Traffic], change: (Int, inout FleetMinute) -> Void = { _, _ in }) {
        for _ in 0..<count {
            minute += 1
            var fleet = FleetMinute(minute: minute)
            self.traffic = Dictionary(uniqueKeysWithValues: traffic.map { ($0.row, $0) })
            for row in traffic { fleet.rows.append(rowMinute(row)) }
            change(minutes - 1, &fleet)
            if minutesLate > 0 { (fleet.rows, late) = (late, fleet.rows) }
            let questions = engine.tick(fleet)
            engine.take(questions.map(answer))
        }
    }

    /// The findings of the last minutes.
    func findings(minutes: Int = 60) -> [Finding] {
        let end = (minute + 1) * 6
        return engine.findings(in: end - minutes * 6..<end).findings
    }

    /// The slot at which a minute of the fleet begins, which counts from 0.
    static func slot(_ minute: Int) -> Slot { (begin + minute) * 6 }

    // MARK: Requests

    private mutating func rowMinute(_ traffic: Traffic) -> RowMinute {
        let slots = (0..<6).map { _ in slot(traffic) }
        return RowMinute(row: traffic.row, minute: minute, slots: slots)
    }

    private mutating func slot(_ traffic: Traffic) -> SlotCounts {
        var (slot, buckets) = (SlotCounts(), [Int: UInt32]())
        for _ in 0..<poisson(traffic.rate) {
            slot.requests += 1
            if Double.random(in: 0..<1, using: &random) < traffic.failing { slot.failures += 1 }
            let seconds = traffic.seconds * exp(0.4 * normal())
            let bucket = CoarseBuckets.bucket(ofIndex: Int((log2(seconds) * 4).rounded(.up)) - 1)
            buckets[bucket, default: 0] += 1
        }
        slot.durations = buckets.sorted { $0.key < $1.key }.map { BucketCount(bucket: $0.key, count: $0.value) }
        slot.hung = traffic.hung
        if let status = traffic.status { slot.statuses = [StatusCount(status: status, count: slot.failures)] }
        return slot
    }

    private mutating func poisson(_ mean: Double) -> Int {
        max(0, Int((mean + mean.squareRoot() * normal()).rounded()))
    }

    private mutating func normal() -> Double {
        let radius = (-2 * log(Double.random(in: 1e-12..<1, using: &random))).squareRoot()
        return radius * cos(2 * .pi * Double.random(in: 0..<1, using: &random))
    }

    // MARK: Questions

    /// Answers with the present traffic: version 1 is instance a, and version 2 is instance b.
    private func answer(_ question: CarrierQuestion) -> CarrierAnswer {
        guard let traffic = traffic[question.row] else { return CarrierAnswer(episode: question.episode, groups: []) }
        let all = traffic.rate * Double(question.slots.count)
        let bad = all * (question.bad == .failed ? traffic.failing : 0.5)
        let (share, failures) = (traffic.shareOfVersion2, traffic.failuresOfVersion2)
        var answer = CarrierAnswer(
            episode: question.episode,
            groups: [
                .init(version: "1", instance: "a", count: all * (1 - share), bad: bad * (1 - failures)),
                .init(version: "2", instance: "b", count: all * share, bad: bad * failures),
            ])
        if question.bad == .failed { answer.forms = [FailureForm(dimension: .status, value: "503", count: Int(bad))] }
        if question.reference != nil {
            var phases = CarrierAnswer.Phases()
            answer.before = phases
            (phases.queue, phases.firstByte) = (traffic.queue, traffic.seconds)
            answer.during = phases
        }
        return answer
    }
}

extension SampleFleet.Traffic {
    static func server(_ service: String, _ endpoint: String = "/orders", rate: Double = 20) -> Self {
        Self(
            row: FindingRow(
                service: service, kind: .server, method: "POST", host: "\(service):80", endpoint: endpoint),
            rate: rate)
    }

    /// Requests of a service to an endpoint of another one, which may have no agent.
    static func client(_ service: String, to called: String, _ endpoint: String = "/orders") -> Self {
        Self(row: FindingRow(service: service, kind: .client, method: "POST", host: "\(called):80", endpoint: endpoint))
    }

    func with(_ change: (inout Self) -> Void) -> Self {
        var traffic = self
        change(&traffic)
        return traffic
    }

    func failing(_ share: Double) -> Self { with { $0.failing = share } }
}
