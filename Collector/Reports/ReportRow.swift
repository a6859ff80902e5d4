import MartletStorage

/// The dimensions and the measures of one group, which JSON has side by side.
package struct ReportRow: Sendable, Equatable, Codable {
    /// A value for each dimension of the report; `null` if the requests have none. A status is a number in JSON.
    package var dimensions: [Dimension: String?]
    package var measures: RequestMeasures

    package init(dimensions: [Dimension: String?], measures: RequestMeasures) {
        self.dimensions = dimensions
        self.measures = measures
    }

    package init(from decoder: any Decoder) throws {
        measures = try RequestMeasures(from: decoder)
        let container = try decoder.container(keyedBy: Dimension.self)
        dimensions = [:]
        for key in container.allKeys {
            let value =
                key == .status
                ? try container.decodeIfPresent(Int.self, forKey: key).map(String.init)
                : try container.decodeIfPresent(String.self, forKey: key)
            dimensions.updateValue(value, forKey: key)
        }
    }

    package func encode(to encoder: any Encoder) throws {
        try measures.encode(to: encoder)
        var container = encoder.container(keyedBy: Dimension.self)
        for (key, value) in dimensions {
            if key == .status {
                try container.encode(value.flatMap { Int($0) }, forKey: key)
            } else {
                try container.encode(value, forKey: key)
            }
        }
    }
}
