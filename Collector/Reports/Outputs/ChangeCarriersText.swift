/// What carries a change, in words.
package enum ChangeCarriersText {
    /// The sentence if no value carries the change.
    package static let nobody = "nothing that is counted sets them apart"

    /// Returns the name of a value: `version 1.9.0`, `caller checkout`.
    package static func name(_ carrier: ChangeCarriers.Carrier) -> String {
        "\(carrier.property.rawValue) \(carrier.value)"
    }

    /// Returns the values for the end of a line, such as `: instance i-7 (58.00 %, others 1.20 %)`; empty if none were searched.
    static func ending(_ who: ChangeCarriers?) -> String {
        guard let who else { return "" }
        guard !who.values.isEmpty else { return ": \(nobody)" }
        let parts = who.values.map { carrier in
            let (share, others) = (FigureText.percent(carrier.count.rate), FigureText.percent(carrier.others.rate))
            return "\(name(carrier)) (\(share) %, others \(others) %)"
        }
        return ": " + NameList.text(parts)
    }
}
