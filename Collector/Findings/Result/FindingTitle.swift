import Foundation

/// Says a finding in a sentence: who does what to whom, since when, how much, and what was before.
struct FindingTitle {
    let finding: Finding
    let main: Episode
    let rows: RowTable

    private var name: String { finding.subject.text }

    var text: String {
        switch finding.kind {
        case .failing: "\(name) \(verb("fails", "failed")) \(times) in \(share)\(sufferers)"
        case .slow: "\(name) \(verb("takes", "took")) longer than \(bound) \(times) in \(share)"
        case .newError: "\(name) \(verb("answers", "answered")) \(status) \(times), never seen before"
        case .hung: "\(number(main.events.count)) requests to \(name) have had no answer for more than 5 min"
        case .ended: "\(name) ended without shutdown \(counted(main.events.count, "time")) \(times)\(ends)"
        case .starved: "Tasks of \(name) waited for a thread \(times)"
        case .silent: "\(name) \(verb("has sent", "sent")) nothing \(times)"
        case .lost: "\(number(main.lost)) requests of \(name) were recorded and lost"
        case .memory: "Memory of \(name) \(verb("grows", "grew")) by \(growth) a minute \(times)"
        case .calls: calls
        case .retries: retries
        }
    }

    // MARK: Parts

    private func verb(_ present: String, _ past: String) -> String { finding.isOpen ? present : past }

    private var times: String { Self.times(finding.since, finding.until) }

    static func times(_ since: Slot?, _ until: Slot?) -> String {
        switch (since.map(FindingTime.clock), until.map(FindingTime.clock)) {
        case (let since?, let until?): since == until ? "at \(since)" : "from \(since) to \(until)"
        case (let since?, nil): "since \(since)"
        case (nil, let until?): "until \(until)"
        case (nil, nil): "all the time"
        }
    }

    /// The share of bad requests, and that of before if there is a time before.
    private var share: String {
        guard let after = finding.after else { return "some requests" }
        let percent = 100 * Double(after.failures) / Double(max(after.count, 1))
        let text = "\(decimal(percent, percent < 10 ? 1 : 0)) % of \(counted(after.count, "request"))"
        guard let before = finding.before, finding.since != nil else { return text }
        return text + " (before: \(number(before.failures)) of \(number(before.count)))"
    }

    /// The services that fail with it.
    private var sufferers: String {
        let services = Set(finding.also.map(\.service)).subtracting([finding.subject.service]).sorted()
        guard let first = services.first else { return "" }
        switch services.count {
        case 1: return ". \(first) fails with it"
        case 2: return ". \(first) and \(services[1]) fail with it"
        default: return ". \(first) and \(services.count - 1) other services fail with it"
        }
    }

    private var bound: String {
        let seconds = CoarseBuckets.lowerBound(main.bucket)
        return seconds >= 1 ? "\(decimal(seconds, 1)) s" : "\(decimal(seconds * 1000, seconds < 0.01 ? 1 : 0)) ms"
    }

    private var status: String { main.status.map { String($0) } ?? "an error" }

    /// Why most processes ended, and during what: ` (SIGILL at main.swift:41, 7 of 8 during GET /files/{name})`.
    private var ends: String {
        let all = main.events.count
        let cause = EndCounts.sorted(main.ends.causes).first.map { cause, count in
            count == all ? cause : "\(cause) in \(number(count)) of \(number(all))"
        }
        let endpoint = EndCounts.sorted(main.ends.endpoints).first.map { endpoint, count in
            (count == all ? "" : "\(number(count)) of \(number(all)) ") + "during \(endpoint)"
        }
        let parts = [cause, endpoint].compactMap { $0 }
        return parts.isEmpty ? "" : " (\(parts.joined(separator: ", ")))"
    }

    private var growth: String { "\(decimal(main.growth ?? 0, 1)) MiB" }

    private var calls: String {
        guard let ratio = main.calls, let called = ratio.made.first else { return name }
        let count = counted(Int(ratio.perRequest.rounded()), "request")
        return
            "\(name) \(verb("makes", "made")) \(count) to \(rows[called].row.subject.text) for each that it serves \(times)"
    }

    private var retries: String {
        guard let ratio = main.retries, let called = main.place.row else { return name }
        let (now, before) = (decimal(ratio.perRequest, 1), decimal(ratio.before, 1))
        return "\(name) \(verb("sends", "sent")) \(now) requests to \(rows[called].row.subject.text) "
            + "for each that it serves \(times) (before: \(before))"
    }

    // MARK: Numbers

    private func counted(_ count: Int, _ noun: String) -> String { "\(number(count)) \(noun)\(count == 1 ? "" : "s")" }

    /// A number with commas between thousands.
    private func number(_ number: some BinaryInteger) -> String {
        let digits = Array(String(number))
        return digits.indices.reduce(into: "") { text, index in
            if index > 0, (digits.count - index) % 3 == 0 { text += "," }
            text.append(digits[index])
        }
    }

    private func decimal(_ number: Double, _ places: Int) -> String { String(format: "%.\(places)f", number) }
}

extension FindingSubject {
    /// The subject as a sentence names it: `POST /orders of partner:9000`, `GET /search of search`, `files`.
    var text: String {
        guard let endpoint else { return service }
        let name = [method, endpoint].compactMap { $0 }.joined(separator: " ")
        return "\(name) of \(kind == .client ? host ?? service : service)"
    }
}
