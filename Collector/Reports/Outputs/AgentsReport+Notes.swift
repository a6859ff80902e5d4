extension AgentsReport.Agent {
    /// Facts that need a look: they are rare, and too long for a column.
    package var notes: [String] {
        var notes: [String] = []
        if let reason = captureReason { notes.append("capture is \(capture ?? "off"), \(reason)") }
        if let rules {
            notes.append("\(rules == 1 ? "1 rule changes" : "\(rules) rules change") its requests (report --by rule)")
        }
        if let seconds = unwatchedSeconds {
            notes.append("capture was off for \(FigureText.seconds(seconds)) since the process started")
        }
        let reasons = (ledger?.dropped ?? [:]).filter { $0.value > 0 }.sorted { $0.key < $1.key }
        if !reasons.isEmpty {
            notes.append("dropped " + reasons.map { "\($0.value) \($0.key)" }.joined(separator: ", "))
        }
        if let count = overlappingBatches {
            notes.append("some requests may be counted twice; batches that overlap with earlier ones: \(count)")
        }
        if let sentence = clock.sentence { notes.append(sentence) }
        let kinds = (statistics ?? [:]).filter { $0.value == "spans" }.keys.sorted()
        if !kinds.isEmpty {
            notes.append(
                """
                \(kinds.joined(separator: " and ")) requests are counted from spans only; \
                requests that were not sampled are missing
                """)
        }
        return notes
    }
}
