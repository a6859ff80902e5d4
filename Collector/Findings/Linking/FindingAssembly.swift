/// Puts a finding together from its episodes.
struct FindingAssembly {
    let rows: RowTable
    /// The first slot with data, and the one after the last.
    let begin: Slot
    let now: Slot
    /// The environment that the commands name; `nil` for none.
    let environment: String?

    /// - Parameter also: the other rows of the finding.
    func finding(_ draft: FindingDraft, _ main: Episode, _ cost: FindingCost, also: [FindingSubject]) -> Finding {
        let retries = main.retries
        let subject = retries.map { rows[$0.served].row.subject } ?? draft.subject
        let isSinceKnown = main.isStartKnown && main.began > begin
        var finding = Finding(
            id: draft.id, kind: retries == nil ? draft.kind : .retries, since: isSinceKnown ? main.began : nil,
            until: main.end, isOpen: main.isOpen, title: "", subject: subject, cost: cost, before: nil, after: nil,
            who: who(main, of: subject), what: what(main), side: main.side, deployment: nil,
            also: unique(also, except: subject),
            command: "", page: "")
        if let counts = main.counts { (finding.before, finding.after) = self.counts(main, counts) }
        finding.title = FindingTitle(finding: finding, main: main, rows: rows).text
        finding.command = FindingAddress.command(finding, main.began, environment)
        finding.page = FindingAddress.page(finding, main.began, environment)
        return finding
    }

    private func unique(_ subjects: [FindingSubject], except subject: FindingSubject) -> [FindingSubject] {
        var seen: Set<FindingSubject> = [subject]
        return subjects.filter { seen.insert($0).inserted }
    }

    private func who(_ main: Episode, of subject: FindingSubject) -> [FindingCarrier] {
        main.who.map { carrier in
            var carrier = carrier
            if carrier.service == subject.service { carrier.service = nil }
            return carrier
        }
    }

    private func what(_ main: Episode) -> [FailureForm] {
        if main.kind == .ended {
            return EndCounts.sorted(main.ends.causes).prefix(5).map {
                FailureForm(dimension: .cause, value: $0.text, count: $0.count)
            }
        }
        guard let status = main.status, let counts = main.counts else { return main.what }
        let count = Int(counts.share(in: main.slots(until: now)).bad)
        return [FailureForm(dimension: .status, value: String(status), count: count)]
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
}
