import MartletStorage

/// The values of a row's dimensions, which JSON has beside the row's other keys. A status is a number in JSON, and a value that
/// the requests do not have is `null`.
enum DimensionValues {
    static func decode(from decoder: any Decoder) throws -> [Dimension: String?] {
        let container = try decoder.container(keyedBy: Dimension.self)
        var values: [Dimension: String?] = [:]
        for key in container.allKeys {
            let value =
                key == .status
                ? try container.decodeIfPresent(Int.self, forKey: key).map(String.init)
                : try container.decodeIfPresent(String.self, forKey: key)
            values.updateValue(value, forKey: key)
        }
        return values
    }

    static func encode(_ values: [Dimension: String?], to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Dimension.self)
        for (key, value) in values {
            if key == .status {
                try container.encode(value.flatMap { Int($0) }, forKey: key)
            } else {
                try container.encode(value, forKey: key)
            }
        }
    }
}

extension Dimension: Codable, CodingKey {}
