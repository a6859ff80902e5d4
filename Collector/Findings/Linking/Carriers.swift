import Foundation

/// Finds the version, instance, host or caller that carries a finding: its share of bad requests against that of the others
/// that lived in the changed part, with a correction for how many were looked at.
struct Carriers {
    fileprivate struct Key: Hashable {
        let dimension: FindingCarrier.Dimension
        let value: String
    }

    private struct Counts {
        var share = Share(bad: 0, all: 0)
        /// Requests that would have been bad before.
        var expected = 0.0
        /// The services whose requests they are; none for those of a caller.
        var services: Set<String> = []

        mutating func add(_ other: Share, usual: Double) {
            share.bad += other.bad
            share.all += other.all
            expected += other.all * usual
        }
    }

    private struct Candidate {
        let key: Key
        let evidence: Double
        let shareOfBad: Double
        let shareOfAll: Double
    }

    private var counts: [Key: Counts] = [:]

    /// Adds the counts of an episode's row.
    mutating func add(_ answer: CarrierAnswer, of row: FindingRow, usual: Double) {
        for group in answer.groups where group.count > 0 {
            let share = Share(bad: group.bad, all: group.count)
            add(.version, group.version, share, usual, row.service)
            add(.instance, group.instance, share, usual, row.service)
            if let host = row.host { add(.host, host, share, usual, row.service) }
        }
    }

    /// Adds the requests of a caller to the row.
    mutating func add(caller service: String, _ share: Share, usual: Double) { add(.caller, service, share, usual) }

    private mutating func add(
        _ dimension: FindingCarrier.Dimension, _ value: String, _ share: Share, _ usual: Double,
        _ service: String? = nil
    ) {
        let key = Key(dimension: dimension, value: value)
        counts[key, default: Counts()].add(share, usual: usual)
        if let service { counts[key]?.services.insert(service) }
    }

    /// Returns the service that all requests of a key are of; `nil` if there are several.
    private func service(_ key: Key) -> String? {
        let services = counts[key]?.services ?? []
        return services.count == 1 ? services.first : nil
    }

    /// Returns the one that carries it; none if nothing that was counted sets one apart.
    func carriers() -> [FindingCarrier] {
        let found = Dictionary(grouping: counts.keys, by: \.dimension).values.flatMap(candidates)
        return found.min(by: isSurer).map {
            [
                FindingCarrier(
                    dimension: $0.key.dimension, value: $0.key.value, service: service($0.key),
                    shareOfBad: rounded(min($0.shareOfBad, 1)), shareOfAll: rounded($0.shareOfAll))
            ]
        } ?? []
    }

    private func candidates(_ keys: [Key]) -> [Candidate] {
        guard keys.count > 1 else { return [] }
        let all = keys.compactMap { counts[$0] }.reduce(into: Counts()) {
            $0.add($1.share, usual: 0)
            $0.expected += $1.expected
        }
        return keys.compactMap { key in counts[key].flatMap { candidate(key, $0, all) } }
    }

    private func candidate(_ key: Key, _ own: Counts, _ all: Counts) -> Candidate? {
        let others = Share(bad: all.share.bad - own.share.bad, all: all.share.all - own.share.all)
        let excess = all.share.bad - all.expected
        guard own.share.all > 0, others.all >= 5, own.share.value > others.value, excess > 0 else { return nil }
        let evidence = EvidenceScore.ofDifference(own.share, others)
        let part = (own.share.bad - own.expected) / excess
        guard evidence >= FindingConstants.carrierEvidence + log(Double(counts.count)),
            part >= FindingConstants.carrierShare
        else { return nil }
        return Candidate(
            key: key, evidence: evidence, shareOfBad: part, shareOfAll: own.share.all / all.share.all)
    }

    /// A version is preferred to its only instance, which has the same counts.
    private func isSurer(_ one: Candidate, _ other: Candidate) -> Bool {
        func evidence(_ candidate: Candidate) -> Double {
            candidate.evidence + (candidate.key.dimension == .version ? 0.5 : 0)
        }
        let (first, second) = (evidence(one), evidence(other))
        return first != second ? first > second : one.key.order < other.key.order
    }

    private func rounded(_ share: Double) -> Double { (share * 1000).rounded() / 1000 }
}

extension Carriers.Key {
    fileprivate var order: (Int, String) {
        (FindingCarrier.Dimension.allCases.firstIndex(of: dimension) ?? 0, value)
    }
}

extension Episode {
    /// The version of the processes that ended or that grow, if it is one and others lived.
    func carriersOfProcesses(_ lastSeen: [ProcessIdentity: Double]) -> [FindingCarrier] {
        let named = Set(versions)
        guard let version = named.first, named.count == 1, case .service(let service) = place else { return [] }
        let begin = Double(start) * FindingTime.secondsOfSlot
        let lived = Set(lastSeen.lazy.filter { $0.key.service == service && $0.value >= begin }.map(\.key.version))
        let isSetApart = kind == .memory || kind == .ended && versions.count >= 3 && lived.count > 1
        return isSetApart ? [FindingCarrier(dimension: .version, value: version)] : []
    }
}

extension CarrierAnswer.Phases {
    /// The side whose phase grew most; `nil` if that is the server's, and the server does not say so itself.
    func grownSide(since before: CarrierAnswer.Phases, isServerKnown: Bool) -> Finding.Side? {
        let growth = [
            queue - before.queue, nameLookup - before.nameLookup, connect - before.connect, tls - before.tls,
            firstByte - before.firstByte, transfer - before.transfer,
        ]
        let most = growth.indices.max { growth[$0] < growth[$1] } ?? 0
        if most == 0 { return .client }
        return most == 4 && !isServerKnown ? nil : .network
    }
}
