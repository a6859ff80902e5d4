import MartletStorage

/// The values of a dimension. Its JSON is a fixed format.
package struct ValuesReport: Sendable, Equatable, Codable {
    package var dimension: Dimension
    package var values: [String]
    /// Whether values were left out.
    package var isThereMore: Bool

    private enum CodingKeys: String, CodingKey {
        case dimension, values
        case isThereMore = "more"
    }

    package init(_ answer: ValuesAnswer, of dimension: Dimension) {
        self.dimension = dimension
        values = answer.values
        isThereMore = answer.isThereMore
    }
}
