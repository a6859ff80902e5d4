import MartletStorage
import MartletTelemetry

/// Answers the detector's questions: who carries a finding, what the failures were, and where the time went.
extension FleetReading {
    /// The most questions of a minute that are answered. Others leave open who carries a finding.
    private static let questions = 48

    /// Returns answers to the detector's questions. A question that the store cannot answer is left out.
    func answers(to questions: [CarrierQuestion], in environment: String) async throws -> [CarrierAnswer] {
        let asked = questions.filter { !$0.slots.isEmpty }.prefix(Self.questions)
        let queries = asked.map { $0.queries(Self.filter(environment)) }
        guard !queries.isEmpty else { return [] }
        var answers = try await storage.statistics(queries.flatMap { $0 })[...]
        return zip(asked, queries).compactMap { question, queries in
            let own = answers.prefix(queries.count).compactMap { try? $0.get() }
            answers = answers.dropFirst(queries.count)
            return own.count == queries.count ? CarrierAnswer(to: question, own) : nil
        }
    }
}

extension CarrierQuestion {
    /// The queries that answer it, in the order in which ``CarrierAnswer/init(to:_:)`` takes the answers.
    fileprivate func queries(_ filter: RequestFilter) -> [StatisticsQuery] {
        let filter = row.filter(of: filter)
        func query(_ slots: Range<Slot>, _ by: [Dimension]) -> StatisticsQuery {
            StatisticsQuery(window: FindingTime.window(slots), filter: filter, by: by)
        }
        var queries = [query(slots, [.version, .instance] + (isOfStatus ? [.status] : []))]
        if bad == .failed { queries.append(query(slots, [.status, .error])) }
        if let reference, !reference.isEmpty { queries += [query(slots, [.service]), query(reference, [.service])] }
        return queries
    }

    private var isOfStatus: Bool { if case .status = bad { true } else { false } }

    /// Returns the number of bad requests in a group.
    fileprivate func bad(in group: RequestGroup) -> UInt64 {
        switch bad {
        case .failed: group.failedAndEnded
        case .slower(let bucket): group.coarseBuckets.dropFirst(bucket).reduce(0, +)
        case .status(let status): group.values.last == String(status) ? group.ended : 0
        }
    }
}

extension FindingRow {
    fileprivate func filter(of filter: RequestFilter) -> RequestFilter {
        var filter = filter
        let values: [(Dimension, String?)] = [
            (.service, service), (.kind, kind.rawValue), (.method, method), (.host, host), (.endpoint, endpoint),
        ]
        for (dimension, value) in values { if let value { filter.select(dimension, value) } }
        return filter
    }
}

extension CarrierAnswer {
    /// - Parameter answers: the answers to the question's queries.
    fileprivate init?(to question: CarrierQuestion, _ answers: [StatisticsAnswer]) {
        var rest = answers[...]
        guard let carriers = rest.popFirst() else { return nil }
        self.init(episode: question.episode, groups: Self.groups(carriers, question))
        if question.bad == .failed { forms = rest.popFirst()?.groups.compactMap(FailureForm.init) ?? [] }
        (during, before) = (rest.popFirst()?.phases, rest.popFirst()?.phases)
    }

    private static func groups(_ answer: StatisticsAnswer, _ question: CarrierQuestion) -> [Group] {
        var groups: [[String]: Group] = [:]
        for found in answer.groups {
            // If not all instances are known, none is named.
            let instance = answer.sendersSince == nil ? found.values[1] ?? "" : ""
            let version = found.values[0] ?? ""
            let none = Group(version: version, instance: instance, count: 0, bad: 0)
            groups[[version, instance], default: none].count += Double(found.ended)
            groups[[version, instance], default: none].bad += Double(question.bad(in: found))
        }
        return groups.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map(\.value)
    }
}

extension FailureForm {
    /// The form of the failures with a status and an error; `nil` if there are none.
    fileprivate init?(_ group: RequestGroup) {
        guard group.failedAndEnded > 0, let count = Int(exactly: group.failedAndEnded) else { return nil }
        if let status = group.values[0] {
            self.init(dimension: .status, value: status, count: count)
        } else if let error = group.values[1] {
            self.init(dimension: .error, value: error, count: count)
        } else {
            return nil
        }
    }
}

extension StatisticsAnswer {
    /// The mean time of all requests in each phase; a request without the phase spent none. `nil` if no phase is known.
    fileprivate var phases: CarrierAnswer.Phases? {
        let totals = groups.reduce(into: PhaseTotals()) { $0.merge($1.statistics.phases) }
        let requests = RequestPhase.allCases.map { totals[$0].count }.max() ?? 0
        guard requests > 0 else { return nil }
        func mean(_ phase: RequestPhase) -> Double { totals[phase].seconds / Double(requests) }
        var phases = CarrierAnswer.Phases()
        (phases.queue, phases.nameLookup, phases.connect) = (mean(.queue), mean(.dns), mean(.connect))
        (phases.tls, phases.firstByte, phases.transfer) = (mean(.tls), mean(.firstByte), mean(.transfer))
        return phases
    }
}
