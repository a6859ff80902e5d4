/// A verdict in JSON: its answer, and beside it the fields that the answer has.
extension Verdict: Codable {
    private enum Answer: String, Codable {
        case worse, better, same
        case tooLittleData = "too_little_data"
    }

    private enum CodingKeys: String, CodingKey {
        case answer, reason
        case wouldHaveSeen = "would_have_seen"
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        switch try container.decode(Answer.self, forKey: .answer) {
        case .worse: self = .worse(try Changes(from: decoder))
        case .better: self = .better(try Changes(from: decoder))
        case .same:
            self = .noChangeFound(wouldHaveSeen: try container.decode(SmallestChange.self, forKey: .wouldHaveSeen))
        case .tooLittleData: self = .tooLittleData(try container.decode(Shortage.self, forKey: .reason))
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        switch self {
        case .worse(let changes):
            try container.encode(Answer.worse, forKey: .answer)
            try changes.encode(to: encoder)
        case .better(let changes):
            try container.encode(Answer.better, forKey: .answer)
            try changes.encode(to: encoder)
        case .noChangeFound(let smallest):
            try container.encode(Answer.same, forKey: .answer)
            try container.encode(smallest, forKey: .wouldHaveSeen)
        case .tooLittleData(let shortage):
            try container.encode(Answer.tooLittleData, forKey: .answer)
            try container.encode(shortage, forKey: .reason)
        }
    }
}

extension Verdict.Quantile: Codable {
    private enum CodingKeys: String, CodingKey {
        case value, from, to
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        value = try container.decode(Double.self, forKey: .value)
        let (from, to) = (
            try container.decode(Double.self, forKey: .from), try container.decode(Double.self, forKey: .to)
        )
        guard from <= to else {
            throw DecodingError.dataCorruptedError(forKey: .to, in: container, debugDescription: "to is before from")
        }
        interval = from...to
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(value, forKey: .value)
        try container.encode(interval.lowerBound, forKey: .from)
        try container.encode(interval.upperBound, forKey: .to)
    }
}

extension Verdict.Shortage: Codable {
    private enum CodingKeys: String, CodingKey {
        case requests, blocks, window
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let window = try container.decode(Verdict.Window.self, forKey: .window)
        if let requests = try container.decodeIfPresent(UInt64.self, forKey: .requests) {
            self = .requests(requests, in: window)
        } else {
            self = .blocks(try container.decode(Int.self, forKey: .blocks), in: window)
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        switch self {
        case .requests(let requests, let window):
            try container.encode(requests, forKey: .requests)
            try container.encode(window, forKey: .window)
        case .blocks(let blocks, let window):
            try container.encode(blocks, forKey: .blocks)
            try container.encode(window, forKey: .window)
        }
    }
}
