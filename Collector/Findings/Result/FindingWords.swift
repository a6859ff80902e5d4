import Foundation

/// Puts a finding into words.
struct FindingWords {
    let rows: RowTable
    /// The first slot with data, and the one after the last.
    let begin: Slot
    let now: Slot

    /// - Parameter also: the other rows of the finding.
    func finding(_ draft: FindingDraft, _ main: Episode, _ cost: FindingCost, also: [FindingSubject]) -> Finding {
        let retries = main.retries
        let subject = retries.map { rows[$0.served].row.subject } ?? draft.subject
        let isSinceKnown = main.isStartKnown && main.began > begin
        var finding = Finding(
            id: draft.id, kind: retries == nil ? draft.kind : .retries, since: isSinceKnown ? main.began : nil,
            until: main.end, isOpen: main.isOpen, title: "", subject: subject, cost: cost, before: nil, after: nil,
            who: main.who, what: what(main), side: main.side, deployment: nil, also: unique(also, except: subject),
            command: "", page: "")
        if let counts = main.counts { (finding.before, finding.after) = self.counts(main, counts) }
        finding.title = title(finding, main)
        finding.command = FindingLinks.command(finding, main.began)
        finding.page = FindingLinks.page(finding, main.began)
        return finding
    }

    private func unique(_ subjects: [FindingSubject], except subject: FindingSubject) -> [FindingSubject] {
        var seen: Set<FindingSubject> = [subject]
        return subjects.filter { seen.insert($0).inserted }
    }

    private func what(_ main: Episode) -> [FailureForm] {
        guard let status = main.status, let counts = main.counts else { return [] }
        let count = Int(counts.share(in: main.slots(until: now)).bad)
        return [FailureForm(dimension: "status", value: String(status), count: count)]
    }

    /// The counts before and since. Before there are only those that the usual share was taken from.
    private func counts(_ main: Episode, _ counts: EpisodeCounts) -> (FindingCounts, FindingCounts) {
        let after = counts.share(in: main.slots(until: now))
        let before = counts.share(in: counts.first..<max(counts.first, main.start)).all
        let usual = main.start > begin ? main.usualShare * before : 0
        return (
            FindingCounts(count: Int(before.rounded()), failures: Int(usual.rounded(.down))),
            FindingCounts(count: Int(after.all.rounded()), failures: Int(after.bad.rounded()))
        )
    }

    // MARK: Titles

    private func title(_ finding: Finding, _ main: Episode) -> String {
        let name = finding.subject.text
        let times = times(finding)
        switch finding.kind {
        case .failing: return "\(name) \(verb(finding, "fails", "failed")) \(times) in \(share(finding))"
        case .slow:
            let bound = duration(CoarseBuckets.seconds(main.bucket))
            return "\(name) \(verb(finding, "takes", "took")) longer than \(bound) \(times) in \(share(finding))"
        case .newError:
            let status = main.status.map(String.init) ?? "an error"
            return "\(name) \(verb(finding, "answers", "answered")) \(status) \(times), never seen before"
        case .hung:
            return "\(main.events.count) requests to \(name) have had no answer for more than 5 min"
        case .ended:
            let cause = main.cause.map { " (\($0))" } ?? ""
            return "\(name) ended without shutdown \(main.events.count) times \(times)\(cause)"
        case .starved: return "Tasks of \(name) waited for a thread \(times)"
        case .silent: return "\(name) \(verb(finding, "has sent", "sent")) nothing \(times)"
        case .lost: return "\(main.lost) requests of \(name) were recorded and lost"
        case .memory:
            let growth = main.growth.map { String(format: "%.1f", $0) } ?? "some"
            return "Memory of \(name) \(verb(finding, "grows", "grew")) by \(growth) MiB a minute \(times)"
        case .calls: return calls(finding, main) + " \(times)"
        case .retries: return retries(finding, main) + " \(times)"
        }
    }

    private func calls(_ finding: Finding, _ main: Episode) -> String {
        guard let ratio = main.calls, let called = ratio.made.first else { return finding.subject.text }
        let count = String(format: "%.0f", ratio.perRequest)
        let called_ = rows[called].row.subject.text
        return
            "\(finding.subject.text) \(verb(finding, "makes", "made")) \(count) requests to \(called_) for each that it serves"
    }

    private func retries(_ finding: Finding, _ main: Episode) -> String {
        guard let ratio = main.retries else { return finding.subject.text }
        let (now, before) = (String(format: "%.1f", ratio.perRequest), String(format: "%.1f", ratio.before))
        return
            "\(finding.subject.text) \(verb(finding, "sends", "sent")) \(now) requests for each that it serves (before: \(before))"
    }

    private func verb(_ finding: Finding, _ present: String, _ past: String) -> String {
        finding.isOpen ? present : past
    }

    private func times(_ finding: Finding) -> String {
        switch (finding.since, finding.until) {
        case (let since?, let until?): "from \(FindingTime.clock(since)) to \(FindingTime.clock(until))"
        case (let since?, nil): "since \(FindingTime.clock(since))"
        case (nil, let until?): "until \(FindingTime.clock(until))"
        case (nil, nil): "all the time"
        }
    }

    private func share(_ finding: Finding) -> String {
        guard let after = finding.after else { return "some requests" }
        let percent = 100 * Double(after.failures) / Double(max(after.count, 1))
        let text = percent >= 10 ? String(format: "%.0f", percent) : String(format: "%.1f", percent)
        let before = finding.before.map { " (before: \($0.failures) of \($0.count))" } ?? ""
        return "\(text) % of \(after.count) requests\(finding.since == nil ? "" : before)"
    }

    private func duration(_ seconds: Double) -> String {
        seconds >= 1 ? String(format: "%.1f s", seconds) : String(format: "%.3g ms", seconds * 1000)
    }
}

extension FindingSubject {
    /// The subject as a sentence names it: `POST /orders of partner:9000`, `GET /search of search`, `files`.
    var text: String {
        guard let endpoint else { return service }
        let name = [method, endpoint].compactMap { $0 }.joined(separator: " ")
        return kind == .client ? "\(name) of \(host ?? "any host") from \(service)" : "\(name) of \(service)"
    }
}
