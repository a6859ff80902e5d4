/// One thing that happened.
package struct Finding: Sendable, Equatable, Codable {
    /// Which side of a slow call took longer.
    package enum Side: String, Sendable, Codable {
        case server
        case network
        /// The calling process: the request waited there.
        case client
    }

    /// It stays as long as the finding does.
    package var id: String
    package var kind: FindingKind
    /// `nil` if it was there all the time.
    package var since: Slot?
    /// `nil` if it goes on.
    package var until: Slot?
    package var isOpen: Bool
    package var title: String
    package var subject: FindingSubject
    package var cost: FindingCost
    /// The requests before and since; `nil` for what is not a share of requests.
    package var before: FindingCounts?
    package var after: FindingCounts?
    /// Who carries it, if counts set somebody apart.
    package var who: [FindingCarrier]
    /// What the failures were.
    package var what: [FailureForm]
    package var side: Side?
    /// The deployment that it began with; `nil` unless the version is the one that carries it.
    package var deployment: Deployment?
    /// The rows that suffer from it.
    package var also: [FindingSubject]
    /// The command and the address of the page that show its figures.
    package var command: String
    package var page: String

    /// The forms that the title does not name. A single cause of ended processes is in it.
    package var formsToName: [FailureForm] { kind == .ended && what.count == 1 ? [] : what }

    private enum CodingKeys: String, CodingKey {
        case id, kind, since, until, title, subject, cost, before, after, who, what, side, deployment, also, command,
            page
        case isOpen = "is_open"
    }

    package func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(id, forKey: .id)
        try values.encode(kind, forKey: .kind)
        try values.encode(since.map(FindingTime.text), forKey: .since)
        try values.encode(until.map(FindingTime.text), forKey: .until)
        try values.encode(isOpen, forKey: .isOpen)
        try values.encode(title, forKey: .title)
        try values.encode(subject, forKey: .subject)
        try values.encode(cost, forKey: .cost)
        try values.encode(before, forKey: .before)
        try values.encode(after, forKey: .after)
        try values.encode(who, forKey: .who)
        try values.encode(what, forKey: .what)
        try values.encode(side, forKey: .side)
        try values.encode(deployment, forKey: .deployment)
        try values.encode(also, forKey: .also)
        try values.encode(command, forKey: .command)
        try values.encode(page, forKey: .page)
    }
}

extension Finding {
    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        func value<Value: Decodable>(_ key: CodingKeys) throws -> Value { try values.decode(Value.self, forKey: key) }
        func known<Value: Decodable>(_ key: CodingKeys) throws -> Value? {
            try values.decodeIfPresent(Value.self, forKey: key)
        }
        self.init(
            id: try value(.id), kind: try value(.kind), since: try values.slotIfPresent(.since),
            until: try values.slotIfPresent(.until), isOpen: try value(.isOpen), title: try value(.title),
            subject: try value(.subject), cost: try value(.cost), before: try known(.before), after: try known(.after),
            who: try value(.who), what: try value(.what), side: try known(.side), deployment: try known(.deployment),
            also: try value(.also), command: try value(.command), page: try value(.page))
    }
}

extension KeyedDecodingContainer {
    /// Reads the beginning of a slot as ``FindingTime/text(_:)`` writes it.
    fileprivate func slot(_ key: Key) throws -> Slot {
        guard let slot = FindingTime.slot(of: try decode(String.self, forKey: key)) else {
            throw DecodingError.dataCorruptedError(forKey: key, in: self, debugDescription: "not a time")
        }
        return slot
    }

    fileprivate func slotIfPresent(_ key: Key) throws -> Slot? {
        try contains(key) && !decodeNil(forKey: key) ? slot(key) : nil
    }
}

/// What a finding is about: the dimensions that name it. Others are `nil`.
package struct FindingSubject: Sendable, Hashable, Codable {
    package var service: String
    package var kind: FindingRow.Kind?
    package var method: String?
    package var host: String?
    package var endpoint: String?

    package init(
        service: String, kind: FindingRow.Kind? = nil, method: String? = nil, host: String? = nil,
        endpoint: String? = nil
    ) {
        (self.service, self.kind, self.method, self.host, self.endpoint) = (service, kind, method, host, endpoint)
    }
}

/// The cost of a finding within the window: failed and slow requests, their delay, and processes that ended.
package struct FindingCost: Sendable, Equatable, Codable {
    /// Requests that failed or were slow, and would not have been before, of the service that has the most of them.
    package var requests: Int
    /// The time that slow requests took longer than before, all together.
    package var seconds: Double
    /// Processes that ended.
    package var processes: Int
}

/// Requests, and those among them that failed or were slow.
package struct FindingCounts: Sendable, Equatable, Codable {
    package var count: Int
    package var failures: Int
}

/// A version, an instance, a host or a caller that carries a finding.
package struct FindingCarrier: Sendable, Equatable, Codable {
    package enum Dimension: String, Sendable, Hashable, Codable, CaseIterable {
        case version
        case instance
        case host
        case caller
    }

    package var dimension: Dimension
    package var value: String
    /// The service whose version, instance or host it is; `nil` for that of the finding's subject.
    package var service: String?
    /// Its share of the bad requests that would not have been bad before, and of all requests; `nil` where processes are
    /// counted.
    package var shareOfBad: Double?
    package var shareOfAll: Double?

    private enum CodingKeys: String, CodingKey {
        case dimension, value, service
        case shareOfBad = "share_of_bad"
        case shareOfAll = "share_of_all"
    }
}

/// A form of the failures of a finding: a status, an error, or why processes ended.
package struct FailureForm: Sendable, Equatable, Codable {
    package enum Dimension: String, Sendable, Codable {
        case status
        case error
        case cause
    }

    package var dimension: Dimension
    package var value: String
    package var count: Int

    package init(dimension: Dimension, value: String, count: Int) {
        (self.dimension, self.value, self.count) = (dimension, value, count)
    }
}

/// A version whose first process reported when a finding began, and that carries it.
package struct Deployment: Sendable, Equatable, Codable {
    package var version: String
    package var at: Slot

    private enum CodingKeys: String, CodingKey { case version, at }

    package func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(version, forKey: .version)
        try values.encode(FindingTime.text(at), forKey: .at)
    }
}

extension Deployment {
    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        self.init(version: try values.decode(String.self, forKey: .version), at: try values.slot(.at))
    }
}
